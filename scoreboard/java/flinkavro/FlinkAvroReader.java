package flinkavro;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.avro.registry.confluent.debezium.DebeziumAvroFormatFactory;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.connector.RuntimeConverter;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.connector.sink.SinkRuntimeProviderContext;
import org.apache.flink.table.runtime.connector.source.ScanRuntimeProviderContext;
import org.apache.flink.table.types.DataType;
import org.apache.flink.types.Row;
import scoreboard.Reader;

/** Flink SQL's debezium-avro-confluent on the topic of a table; its url is the registry's in the environment. */
public final class FlinkAvroReader implements Reader.Factory {
    @Override
    public Reader open(String format, Reader.Table table, String timeZone, Map<String, String> options) throws Exception {
        Map<String, String> chosen = new HashMap<>(options);
        chosen.put("url", System.getenv("CDC_CONFORMANCE_REGISTRY"));
        DataType physical = DataTypes.ROW(table.columns().stream()
                .map(column -> DataTypes.FIELD(name(column), column.nullable() ? type(column) : type(column).notNull()))
                .toList());
        DynamicTableSink.DataStructureConverter converter =
                new SinkRuntimeProviderContext(false).createDataStructureConverter(physical);
        converter.open(RuntimeConverter.Context.create(FlinkAvroReader.class.getClassLoader()));
        String outer = table.schema() == null ? table.database() : table.schema();
        String topic = ("." + outer + "." + table.name()).replaceAll("[^A-Za-z0-9._-]", "_");
        List<DeserializationSchema<RowData>> job = new ArrayList<>(List.of(started(chosen, physical)));
        return message -> {
            if (!message.topic().endsWith(topic)) {
                return List.of();
            }
            try {
                return rows(table, job.get(0), converter, message);
            } catch (Exception stopped) {
                job.set(0, started(chosen, physical)); // What it throws ends a job, and the next one begins anew.
                throw stopped;
            }
        };
    }

    private static DeserializationSchema<RowData> started(Map<String, String> options, DataType physical) throws Exception {
        DeserializationSchema<RowData> schema = new DebeziumAvroFormatFactory()
                .createDecodingFormat(null, Configuration.fromMap(options))
                .createRuntimeDecoder(ScanRuntimeProviderContext.INSTANCE, physical);
        schema.open(null);
        return schema;
    }

    /** The name of a column in its table: the connector's, with an underscore for what Avro's names do not have. */
    private static String name(Reader.Column column) {
        return column.name().replaceFirst("^(?=[0-9])", "_").replaceAll("[^A-Za-z0-9_]", "_");
    }

    /** The declared type of a column: that of Flink's table for Avro whose Avro type is the connector's. */
    private static DataType type(Reader.Column column) {
        if (!column.members().isEmpty()) {
            return DataTypes.STRING();
        } else if (column.logical().equals("decimal")) {
            return column.precision() > 38 ? DataTypes.BYTES() : DataTypes.DECIMAL(column.precision(), column.scale());
        }
        return switch (column.spark()) {
            case "boolean" -> DataTypes.BOOLEAN();
            case "tinyint" -> DataTypes.TINYINT();
            case "smallint" -> DataTypes.SMALLINT();
            case "int" -> DataTypes.INT();
            case "bigint" -> DataTypes.BIGINT();
            case "float" -> DataTypes.FLOAT();
            case "double" -> DataTypes.DOUBLE();
            case "date" -> DataTypes.DATE();
            case "binary" -> DataTypes.BYTES();
            case "timestamp_ntz" -> column.fsp() > 3 ? DataTypes.BIGINT() : DataTypes.TIMESTAMP(3);
            default -> DataTypes.STRING();
        };
    }

    private static List<Reader.Row> rows(
            Reader.Table table,
            DeserializationSchema<RowData> schema,
            DynamicTableSink.DataStructureConverter converter,
            Reader.Message message)
            throws Exception {
        List<RowData> read = new ArrayList<>();
        schema.deserialize(message.value(), new ListCollector<>(read));
        List<Reader.Row> rows = new ArrayList<>();
        Map<String, Object> before = null;
        for (RowData data : read) {
            Row row = (Row) converter.toExternal(data);
            Map<String, Object> image = new LinkedHashMap<>();
            for (int i = 0; i < table.columns().size(); i++) {
                image.put(table.columns().get(i).name(), value(table.columns().get(i), row.getField(i)));
            }
            switch (row.getKind()) {
                case INSERT -> rows.add(new Reader.Row("INSERT", null, image));
                case UPDATE_BEFORE -> before = image;
                case UPDATE_AFTER -> rows.add(new Reader.Row("UPDATE", before, image));
                case DELETE -> rows.add(new Reader.Row("DELETE", image, null));
            }
        }
        return rows;
    }

    /** Flink's value; the bytes of a DECIMAL that Flink cannot declare are the unscaled number. */
    private static Object value(Reader.Column column, Object value) {
        boolean wide = column.logical().equals("decimal") && value instanceof byte[];
        return wide ? new BigDecimal(new BigInteger((byte[]) value), column.scale()).toPlainString() : value;
    }
}
