package flink;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.json.canal.CanalJsonFormatFactory;
import org.apache.flink.formats.json.debezium.DebeziumJsonFormatFactory;
import org.apache.flink.formats.json.maxwell.MaxwellJsonFormatFactory;
import org.apache.flink.formats.json.ogg.OggJsonFormatFactory;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.connector.RuntimeConverter;
import org.apache.flink.table.connector.format.DecodingFormat;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.runtime.connector.sink.SinkRuntimeProviderContext;
import org.apache.flink.table.runtime.connector.source.ScanRuntimeProviderContext;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.utils.DataTypeUtils;
import org.apache.flink.types.Row;
import scoreboard.Reader;

/** Flink SQL's canal-json, debezium-json, maxwell-json and ogg-json on a Kafka topic, with the options that are given. */
public final class FlinkReader implements Reader.Factory {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public Reader open(String format, Reader.Table table, String timeZone, Map<String, String> options) throws Exception {
        Decoding decoding = decoding(format, table, options);
        String topic = format.equals("debezium-json") ? topic(table) : "";
        boolean perTable = format.equals("maxwell-json") || format.equals("ogg-json");
        DynamicTableSink.DataStructureConverter converter =
                new SinkRuntimeProviderContext(false).createDataStructureConverter(decoding.produced());
        converter.open(RuntimeConverter.Context.create(FlinkReader.class.getClassLoader()));
        return new Open(table, ZoneId.of(timeZone), decoding.schema(), converter, topic, perTable, decoding.names())::read;
    }

    /** Flink's own part: the open schema, the type of what it makes, and what the columns behind the table's must hold. */
    record Decoding(DeserializationSchema<RowData> schema, DataType produced, List<String> names) {}

    /** How Flink decodes a format's messages of a table. */
    private static Decoding decoding(String format, Reader.Table table, Map<String, String> chosen) throws Exception {
        boolean debezium = format.contains("debezium");
        boolean iso = debezium && !format.equals("cloudcanal-debezium");
        Map<String, String> filter = new LinkedHashMap<>();
        Map<String, String> options = new HashMap<>(chosen);
        DeserializationFormatFactory factory;
        if (format.equals("maxwell-json")) {
            factory = new MaxwellJsonFormatFactory();
        } else if (format.equals("ogg-json")) {
            factory = new OggJsonFormatFactory();
        } else if (debezium) {
            factory = new DebeziumJsonFormatFactory();
            options.put("timestamp-format.standard", iso ? "ISO-8601" : "SQL");
            if (!format.equals("debezium-json")) { // Their topic holds all tables.
                filter.put("source.database", table.database());
                filter.put("source.table", table.name());
                if (table.schema() != null) {
                    filter.put("source.schema", table.schema());
                }
            }
        } else {
            factory = new CanalJsonFormatFactory();
            options.put("database.include", Pattern.quote(table.database()));
            options.put("table.include", Pattern.quote(table.name()));
        }
        DecodingFormat<DeserializationSchema<RowData>> decoding =
                factory.createDecodingFormat(null, Configuration.fromMap(options));
        DataType physical = DataTypes.ROW(table.columns().stream()
                .map(column -> DataTypes.FIELD(column.name(), type(column, iso, !debezium)))
                .toList());
        decoding.applyReadableMetadata(List.copyOf(filter.keySet()));
        DeserializationSchema<RowData> schema = decoding.createRuntimeDecoder(ScanRuntimeProviderContext.INSTANCE, physical);
        schema.open(null);
        DataType produced = DataTypeUtils.appendRowFields(
                physical, filter.keySet().stream().map(key -> DataTypes.FIELD(key, DataTypes.STRING())).toList());
        return new Decoding(schema, produced, List.copyOf(filter.values()));
    }

    /** The declared type of a column: the one that holds its values. */
    private static DataType type(Reader.Column column, boolean zoned, boolean bits) {
        if (column.logical().equals("time")) {
            return DataTypes.TIME(column.fsp());
        } else if (!column.members().isEmpty()) {
            return DataTypes.STRING();
        } else if (column.spark().startsWith("decimal")) {
            return column.precision() < 0 ? DataTypes.DECIMAL(20, 0) : DataTypes.DECIMAL(column.precision(), column.scale());
        }
        return switch (column.spark()) {
            case "boolean" -> bits ? DataTypes.BIGINT() : DataTypes.BOOLEAN(); // BIT(1) is a number.
            case "tinyint" -> DataTypes.TINYINT();
            case "smallint" -> DataTypes.SMALLINT();
            case "int" -> DataTypes.INT();
            case "bigint" -> DataTypes.BIGINT();
            case "float" -> DataTypes.FLOAT();
            case "double" -> DataTypes.DOUBLE();
            case "date" -> DataTypes.DATE();
            case "timestamp_ntz" -> DataTypes.TIMESTAMP(column.fsp());
            case "timestamp" -> zoned ? DataTypes.TIMESTAMP_LTZ(column.fsp()) : DataTypes.TIMESTAMP(column.fsp());
            case "binary" -> DataTypes.BYTES();
            default -> DataTypes.STRING();
        };
    }

    /** How the name of a table's topic ends: Debezium has a topic for each table. */
    private static String topic(Reader.Table table) {
        String outer = table.schema() == null ? table.database() : table.schema();
        return ("." + outer + "." + table.name()).replaceAll("[^A-Za-z0-9._-]", "_");
    }

    /**
     * An open reader; `topic` is how the topic's name ends, or empty; with `perTable` messages of other tables are those of
     * other topics; `names` are what the last columns must hold.
     */
    private record Open(
            Reader.Table table,
            ZoneId zone,
            DeserializationSchema<RowData> schema,
            DynamicTableSink.DataStructureConverter converter,
            String topic,
            boolean perTable,
            List<String> names) {
        List<Reader.Row> read(Reader.Message message) throws Exception {
            List<Reader.Row> rows = new ArrayList<>();
            if (!message.topic().endsWith(topic) || (perTable && !isOf(table, message.value()))) {
                return rows;
            }
            List<RowData> read = new ArrayList<>();
            schema.deserialize(message.value(), new ListCollector<>(read));
            Map<String, Object> before = null;
            for (RowData data : read) {
                Row row = (Row) converter.toExternal(data);
                if (!isOfTheTable(row)) {
                    continue;
                }
                Map<String, Object> image = image(row);
                switch (row.getKind()) {
                    case INSERT -> rows.add(new Reader.Row("INSERT", null, image));
                    case UPDATE_BEFORE -> before = image;
                    case UPDATE_AFTER -> rows.add(new Reader.Row("UPDATE", before, image));
                    case DELETE -> rows.add(new Reader.Row("DELETE", image, null));
                }
            }
            return rows;
        }

        /** Whether a message names the table, or none that can be read: each table has a topic. */
        private static boolean isOf(Reader.Table table, byte[] value) {
            try {
                JsonNode root = JSON.readTree(value == null ? new byte[0] : value);
                String database = root.path("database").asText(table.database());
                String name = root.path("table").asText(table.name());
                return database.equals(table.database())
                        && (name.equals(table.name()) || name.equals(database + "." + table.name()));
            } catch (java.io.IOException unreadable) {
                return true;
            }
        }

        private boolean isOfTheTable(Row row) {
            for (int i = 0; i < names.size(); i++) {
                if (!names.get(i).equals(row.getField(table.columns().size() + i))) {
                    return false;
                }
            }
            return true;
        }

        private Map<String, Object> image(Row row) {
            Map<String, Object> image = new LinkedHashMap<>();
            for (int i = 0; i < table.columns().size(); i++) {
                image.put(table.columns().get(i).name(), value(table.columns().get(i), row.getField(i)));
            }
            return image;
        }

        /** Flink's value; a wall clock of a TIMESTAMP is cast to an instant, and the number of a BIT(1) to a boolean. */
        private Object value(Reader.Column column, Object value) {
            if (value instanceof LocalDateTime time && column.logical().equals("timestamp")) {
                return time.atZone(zone).toInstant();
            } else if (value instanceof Long bit && column.spark().equals("boolean")) {
                return bit != 0;
            }
            return value;
        }
    }
}
