package seatunnel;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.seatunnel.api.serialization.DeserializationSchema;
import org.apache.seatunnel.api.source.Collector;
import org.apache.seatunnel.api.table.catalog.CatalogTable;
import org.apache.seatunnel.api.table.catalog.PhysicalColumn;
import org.apache.seatunnel.api.table.catalog.TableIdentifier;
import org.apache.seatunnel.api.table.catalog.TableSchema;
import org.apache.seatunnel.api.table.type.BasicType;
import org.apache.seatunnel.api.table.type.DecimalType;
import org.apache.seatunnel.api.table.type.LocalTimeType;
import org.apache.seatunnel.api.table.type.PrimitiveByteArrayType;
import org.apache.seatunnel.api.table.type.SeaTunnelDataType;
import org.apache.seatunnel.api.table.type.SeaTunnelRow;
import org.apache.seatunnel.format.json.canal.CanalJsonDeserializationSchema;
import org.apache.seatunnel.format.json.debezium.DebeziumJsonDeserializationSchema;
import scoreboard.Reader;

/**
 * SeaTunnel's deserialization schemas of canal_json and debezium_json as its Kafka source builds them, for a table declared by its
 * documented type mapping.
 */
public final class SeaTunnelReader implements Reader {
    private final Table table;
    private final boolean canal;
    private final ZoneId zone;
    private final DeserializationSchema<SeaTunnelRow> plain;
    private final DeserializationSchema<SeaTunnelRow> enveloped;

    private SeaTunnelReader(String format, Table table, String timeZone) {
        this.table = table;
        canal = !format.equals("debezium-json");
        zone = ZoneId.of(canal ? timeZone : "UTC"); // Debezium's texts of instants are in UTC.
        CatalogTable declared = declared();
        if (canal) {
            plain = CanalJsonDeserializationSchema.builder(declared).setIgnoreParseErrors(true).build();
            enveloped = plain;
        } else {
            plain = new DebeziumJsonDeserializationSchema(declared, true, false);
            enveloped = new DebeziumJsonDeserializationSchema(declared, true, true);
        }
    }

    /** Opens a reader. */
    public static final class Factory implements Reader.Factory {
        @Override
        public Reader open(String format, Table table, String timeZone, Map<String, String> options) {
            return new SeaTunnelReader(format, table, timeZone);
        }
    }

    @Override
    public List<Row> read(Message message) throws Exception {
        if (!canal && !topicOf(message)) {
            return List.of();
        }
        Rows rows = new Rows();
        (hasSchema(message) ? enveloped : plain).deserialize(message.value(), rows);
        return rows.read;
    }

    /** Debezium gives each table a topic of its own, `prefix.database.table`, and the user names the topic to read. */
    private boolean topicOf(Message message) {
        String outer = table.schema() == null ? table.database() : table.schema();
        String suffix = ("." + outer + "." + table.name()).replaceAll("[^A-Za-z0-9._-]", "_");
        return message.topic().endsWith(suffix);
    }

    /** What the user says with `debezium_record_include_schema`. */
    private boolean hasSchema(Message message) {
        return message.value() != null && new String(message.value(), StandardCharsets.UTF_8).startsWith("{\"schema\":");
    }

    private CatalogTable declared() {
        TableSchema.Builder schema = TableSchema.builder();
        for (Column column : table.columns()) {
            schema.column(PhysicalColumn.of(column.name(), type(column), (Long) null, true, null, null));
        }
        TableIdentifier name = TableIdentifier.of("", table.database(), table.schema(), table.name());
        return CatalogTable.of(name, schema.build(), Map.of(), List.of(), "");
    }

    /** The types of SeaTunnel's MySQL and PostgreSQL sources; a BIT that is a number on the wire is a number. */
    private SeaTunnelDataType<?> type(Column column) {
        return switch (column.logical()) {
            case "bit" -> canal
                    ? column.length() == 64 ? new DecimalType(20, 0) : BasicType.LONG_TYPE
                    : column.length() == 1 ? BasicType.BOOLEAN_TYPE : PrimitiveByteArrayType.INSTANCE;
            case "int", "year" -> switch (column.spark()) {
                case "tinyint" -> BasicType.BYTE_TYPE;
                case "smallint" -> BasicType.SHORT_TYPE;
                case "int" -> BasicType.INT_TYPE;
                case "bigint" -> BasicType.LONG_TYPE;
                default -> new DecimalType(20, 0);
            };
            case "decimal" -> new DecimalType(Math.min(column.precision(), 38), column.scale());
            case "float" -> BasicType.FLOAT_TYPE;
            case "double" -> BasicType.DOUBLE_TYPE;
            case "binary" -> PrimitiveByteArrayType.INSTANCE;
            case "date" -> LocalTimeType.LOCAL_DATE_TYPE;
            case "time" -> LocalTimeType.LOCAL_TIME_TYPE;
            case "datetime", "timestamp" -> LocalTimeType.LOCAL_DATE_TIME_TYPE;
            default -> BasicType.STRING_TYPE;
        };
    }

    /** Collects SeaTunnel's rows; an UPDATE_AFTER completes the UPDATE_BEFORE in front of it. */
    private final class Rows implements Collector<SeaTunnelRow> {
        private final List<Row> read = new ArrayList<>();
        private Map<String, Object> before;

        @Override
        public void collect(SeaTunnelRow row) {
            switch (row.getRowKind()) {
                case INSERT -> read.add(new Row("INSERT", null, image(row)));
                case UPDATE_BEFORE -> before = image(row);
                case UPDATE_AFTER -> read.add(new Row("UPDATE", before, image(row)));
                case DELETE -> read.add(new Row("DELETE", image(row), null));
            }
        }

        @Override
        public Object getCheckpointLock() {
            return this;
        }
    }

    private Map<String, Object> image(SeaTunnelRow row) {
        Map<String, Object> cells = new LinkedHashMap<>();
        for (int i = 0; i < table.columns().size(); i++) {
            cells.put(table.columns().get(i).name(), cell(table.columns().get(i), row.getField(i)));
        }
        return cells;
    }

    /** TIMESTAMP is a wall clock in SeaTunnel, BIT(1) of Canal a number, BIT(n) of Debezium little-endian bytes. */
    private Object cell(Column column, Object value) {
        if (value instanceof LocalDateTime clock && column.logical().equals("timestamp")) {
            return clock.atZone(zone).toInstant();
        } else if (value instanceof Long bit && column.spark().equals("boolean")) {
            return bit != 0;
        } else if (value instanceof byte[] bytes && column.logical().equals("bit")) {
            byte[] number = new byte[bytes.length];
            for (int i = 0; i < bytes.length; i++) {
                number[i] = bytes[bytes.length - 1 - i];
            }
            return new BigInteger(1, number);
        }
        return value;
    }
}
