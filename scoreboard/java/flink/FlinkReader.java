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
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.connector.RuntimeConverter;
import org.apache.flink.table.connector.format.DecodingFormat;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.connector.sink.SinkRuntimeProviderContext;
import org.apache.flink.table.runtime.connector.source.ScanRuntimeProviderContext;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.utils.DataTypeUtils;
import org.apache.flink.types.Row;
import scoreboard.Reader;

/** Flink SQL's format of a Kafka topic that option `format` names, with the other options that are given. */
public final class FlinkReader implements Reader.Factory {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public Reader open(String format, Reader.Table table, String timeZone, Map<String, String> options) throws Exception {
        Decoding decoding = decoding(format, table, options);
        String topic = format.equals("debezium-json") || format.equals("debezium-avro") ? topic(table) : "";
        boolean perTable = format.equals("maxwell-json") || format.equals("ogg-json");
        DynamicTableSink.DataStructureConverter converter =
                new SinkRuntimeProviderContext(false).createDataStructureConverter(decoding.produced());
        converter.open(RuntimeConverter.Context.create(FlinkReader.class.getClassLoader()));
        var schema = new AtomicReference<>(decoding.job().call());
        Open open = new Open(
                table, decoding.columns(), ZoneId.of(timeZone), schema, converter, topic, perTable, decoding.names());
        return message -> {
            try {
                return open.read(message);
            } catch (Exception stopped) {
                schema.set(decoding.job().call()); // What it throws ends a job, and the next one begins anew.
                throw stopped;
            }
        };
    }

    /** Flink's own part: what opens the schema, the type of what it makes, its columns, and what those behind them must hold. */
    record Decoding(
            Callable<DeserializationSchema<RowData>> job, DataType produced, List<Reader.Column> columns, List<String> names) {}

    /** How Flink decodes a format's messages of a table. */
    private static Decoding decoding(String format, Reader.Table table, Map<String, String> chosen) throws Exception {
        boolean debezium = format.contains("debezium");
        boolean avro = format.equals("debezium-avro");
        boolean iso = isIso(format);
        Map<String, String> filter = new LinkedHashMap<>();
        Map<String, String> options = new HashMap<>(chosen);
        DeserializationFormatFactory factory = FactoryUtil.discoverFactory(
                FlinkReader.class.getClassLoader(), DeserializationFormatFactory.class, options.remove("format"));
        if (avro) {
            options.put("url", System.getenv("CDC_CONFORMANCE_REGISTRY"));
        } else if (debezium) {
            options.put("timestamp-format.standard", iso ? "ISO-8601" : "SQL");
            if (!format.equals("debezium-json")) { // Their topic holds all tables.
                filter.put("source.database", table.database());
                filter.put("source.table", table.name());
                if (table.schema() != null) {
                    filter.put("source.schema", table.schema());
                }
            }
        } else if (format.contains("canal")) {
            options.put("database.include", Pattern.quote(table.database()));
            options.put("table.include", Pattern.quote(table.name()));
        }
        DecodingFormat<DeserializationSchema<RowData>> decoding =
                factory.createDecodingFormat(null, Configuration.fromMap(options));
        List<Reader.Column> columns = table.columns().stream().filter(column -> !avro || isRead(column)).toList();
        DataType physical = DataTypes.ROW(columns.stream()
                .map(column -> DataTypes.FIELD(avro ? field(column) : column.name(), type(column, format)))
                .toList());
        if (!filter.isEmpty()) {
            decoding.applyReadableMetadata(List.copyOf(filter.keySet()));
        }
        DataType produced = DataTypeUtils.appendRowFields(
                physical, filter.keySet().stream().map(key -> DataTypes.FIELD(key, DataTypes.STRING())).toList());
        Callable<DeserializationSchema<RowData>> job = () -> {
            DeserializationSchema<RowData> schema = decoding.createRuntimeDecoder(ScanRuntimeProviderContext.INSTANCE, physical);
            schema.open(null);
            return schema;
        };
        return new Decoding(job, produced, columns, List.copyOf(filter.values()));
    }

    /** Whether a column is declared in Avro: those are left out whose numbers or texts are of no type of Flink's. */
    private static boolean isRead(Reader.Column column) {
        boolean bits = column.logical().equals("bit") && !column.spark().equals("boolean");
        boolean unsigned = column.logical().equals("int") && column.spark().startsWith("decimal");
        return !bits && !unsigned && !List.of("time", "datetime", "timestamp").contains(column.logical());
    }

    /** The name of a column in Avro: an underscore stands for what its names do not have. */
    private static String field(Reader.Column column) {
        return column.name().replaceFirst("^(?=[0-9])", "_").replaceAll("[^A-Za-z0-9_]", "_");
    }

    /** Whether times are declared as Debezium's, in ISO 8601. */
    private static boolean isIso(String format) {
        return format.contains("debezium") && !format.equals("cloudcanal-debezium");
    }

    /** The declared type of a column: the one that holds its values. */
    private static DataType type(Reader.Column column, String format) {
        if (column.logical().equals("time")) {
            return DataTypes.TIME(column.fsp());
        } else if (!column.members().isEmpty()) {
            return DataTypes.STRING();
        } else if (column.spark().startsWith("decimal")) {
            int scale = Math.max(column.scale(), 0); // Flink has it between 0 and the precision.
            int precision = Math.max(column.precision() - Math.min(column.scale(), 0), scale);
            return column.precision() < 0 ? DataTypes.DECIMAL(20, 0) : DataTypes.DECIMAL(precision, scale);
        }
        return switch (column.spark()) {
            case "boolean" -> format.contains("debezium") ? DataTypes.BOOLEAN() : DataTypes.BIGINT(); // Its BIT(1) is a number.
            case "tinyint" -> DataTypes.TINYINT();
            case "smallint" -> DataTypes.SMALLINT();
            case "int" -> DataTypes.INT();
            case "bigint" -> DataTypes.BIGINT();
            case "float" -> format.equals("debezium-avro") ? DataTypes.DOUBLE() : DataTypes.FLOAT(); // Up to 1.9 it is a double.
            case "double" -> DataTypes.DOUBLE();
            case "date" -> DataTypes.DATE();
            case "timestamp_ntz" -> DataTypes.TIMESTAMP(column.fsp());
            case "timestamp" -> isIso(format) ? DataTypes.TIMESTAMP_LTZ(column.fsp()) : DataTypes.TIMESTAMP(column.fsp());
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
            List<Reader.Column> columns,
            ZoneId zone,
            AtomicReference<DeserializationSchema<RowData>> schema,
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
            schema.get().deserialize(message.value(), new ListCollector<>(read));
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
                if (!names.get(i).equals(row.getField(columns.size() + i))) {
                    return false;
                }
            }
            return true;
        }

        private Map<String, Object> image(Row row) {
            Map<String, Object> image = new LinkedHashMap<>();
            for (int i = 0; i < columns.size(); i++) {
                image.put(columns.get(i).name(), value(columns.get(i), row.getField(i)));
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
