package flinkcdc;

import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.cdc.connectors.postgres.table.PostgreSQLDeserializationConverterFactory;
import org.apache.flink.cdc.connectors.postgres.table.PostgresValueValidator;
import org.apache.flink.cdc.debezium.table.RowDataDebeziumDeserializeSchema;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import scoreboard.Reader;

/** Flink CDC's RowDataDebeziumDeserializeSchema, with the records that Kafka Connect's JsonConverter makes of messages. */
public final class FlinkCdcReader implements Reader.Factory {
    @Override
    public Reader open(String format, Reader.Table table, String timeZone, Map<String, String> options) {
        JsonConverter messages = new JsonConverter();
        messages.configure(options, false);
        DataType type = DataTypes.ROW(
                table.columns().stream().map(column -> DataTypes.FIELD(column.name(), type(column))).toList());
        RowType physical = (RowType) type.getLogicalType();
        RowDataDebeziumDeserializeSchema.Builder builder = RowDataDebeziumDeserializeSchema.newBuilder()
                .setPhysicalRowType(physical)
                .setResultTypeInfo(InternalTypeInfo.of(physical));
        if (table.schema() == null) { // As MySqlTableSource builds it.
            builder.setServerTimeZone(ZoneId.of(timeZone));
        } else { // As PostgreSQLTableSource builds it.
            builder.setUserDefinedConverterFactory(PostgreSQLDeserializationConverterFactory.instance())
                    .setValueValidator(new PostgresValueValidator(table.schema(), table.name()));
        }
        DataStructureConverter<Object, Object> rows = DataStructureConverters.getConverter(type);
        rows.open(FlinkCdcReader.class.getClassLoader());
        Open open = new Open(table, messages, builder.build(), rows, ZoneId.of(timeZone));
        return open::read;
    }

    /** The declared type of a column: that of the documents' table of types. */
    private static DataType type(Reader.Column column) {
        if (!column.members().isEmpty()) {
            return DataTypes.STRING();
        } else if (column.logical().equals("time")) {
            return DataTypes.TIME(column.fsp());
        } else if (column.logical().equals("timestamp")) {
            return column.type().equals("timestamptz") ? DataTypes.TIMESTAMP_LTZ(column.fsp()) : DataTypes.TIMESTAMP(column.fsp());
        } else if (column.spark().startsWith("decimal")) {
            return DataTypes.DECIMAL(column.precision(), Math.max(column.scale(), 0));
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
            case "timestamp_ntz" -> DataTypes.TIMESTAMP(column.fsp());
            case "binary" -> DataTypes.BYTES();
            default -> DataTypes.STRING();
        };
    }

    /** An open reader of a table; `zone` is the server's. */
    private record Open(
            Reader.Table table,
            JsonConverter messages,
            RowDataDebeziumDeserializeSchema schema,
            DataStructureConverter<Object, Object> converter,
            ZoneId zone) {
        List<Reader.Row> read(Reader.Message message) throws Exception {
            List<Reader.Row> rows = new ArrayList<>();
            String outer = table.schema() == null ? table.database() : table.schema();
            String topic = ("." + outer + "." + table.name()).replaceAll("[^A-Za-z0-9._-]", "_");
            if (!message.topic().endsWith(topic)) {
                return rows; // The source captures one table.
            }
            SchemaAndValue value = messages.toConnectData(message.topic(), message.value());
            if (value.value() == null) {
                return rows; // The sources set tombstones.on.delete=false.
            }
            List<RowData> read = new ArrayList<>();
            SourceRecord record = new SourceRecord(Map.of(), Map.of(), message.topic(), value.schema(), value.value());
            schema.deserialize(record, new ListCollector<>(read));
            Map<String, Object> before = null;
            for (RowData data : read) {
                Row row = (Row) converter.toExternal(data);
                switch (row.getKind()) {
                    case INSERT -> rows.add(new Reader.Row("INSERT", null, image(row)));
                    case UPDATE_BEFORE -> before = image(row);
                    case UPDATE_AFTER -> rows.add(new Reader.Row("UPDATE", before, image(row)));
                    case DELETE -> rows.add(new Reader.Row("DELETE", image(row), null));
                }
            }
            return rows;
        }

        private Map<String, Object> image(Row row) {
            Map<String, Object> image = new LinkedHashMap<>();
            for (int i = 0; i < table.columns().size(); i++) {
                Reader.Column column = table.columns().get(i);
                image.put(column.name(), value(column, row.getField(i)));
            }
            return image;
        }

        /** Flink's value; the wall clock of a MySQL TIMESTAMP is cast to an instant, as the documents declare it. */
        private Object value(Reader.Column column, Object value) {
            boolean wallClock = value instanceof LocalDateTime && column.logical().equals("timestamp");
            return wallClock ? ((LocalDateTime) value).atZone(zone).toInstant() : value;
        }
    }
}
