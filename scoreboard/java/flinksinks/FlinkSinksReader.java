package flinksinks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.connector.RuntimeConverter;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.connector.sink.SinkRuntimeProviderContext;
import org.apache.flink.table.runtime.connector.source.ScanRuntimeProviderContext;
import org.apache.flink.table.types.DataType;
import org.apache.flink.types.Row;
import scoreboard.Reader;

/**
 * Flink SQL's formats on a topic that its own sink wrote: one table, declared as the sink declared it. Option `format.NAME` says
 * which of Flink's formats reads our format NAME; the other options are Flink's.
 */
public final class FlinkSinksReader implements Reader.Factory {
    private static final String FORMAT = "format.";

    @Override
    public Reader open(String format, Reader.Table table, String timeZone, Map<String, String> options) throws Exception {
        Map<String, String> own = new HashMap<>(options);
        own.keySet().removeIf(name -> name.startsWith(FORMAT));
        DeserializationFormatFactory factory = FactoryUtil.discoverFactory(
                FlinkSinksReader.class.getClassLoader(), DeserializationFormatFactory.class, options.get(FORMAT + format));
        DataType row = DataTypes.ROW(table.columns().stream()
                .map(column -> DataTypes.FIELD(column.name(), type(column)))
                .toList());
        DeserializationSchema<RowData> schema = factory.createDecodingFormat(null, Configuration.fromMap(own))
                .createRuntimeDecoder(ScanRuntimeProviderContext.INSTANCE, row);
        schema.open(null);
        DynamicTableSink.DataStructureConverter converter =
                new SinkRuntimeProviderContext(false).createDataStructureConverter(row);
        converter.open(RuntimeConverter.Context.create(FlinkSinksReader.class.getClassLoader()));
        return message -> {
            List<RowData> read = new ArrayList<>();
            schema.deserialize(message.value(), new ListCollector<>(read));
            return read.stream().map(data -> change(table, (Row) converter.toExternal(data))).toList();
        };
    }

    /** The type with which a table of Flink CDC declares a column. */
    private static DataType type(Reader.Column column) {
        if (!column.members().isEmpty()) {
            return DataTypes.STRING(); // An ENUM's label.
        } else if (column.spark().startsWith("decimal")) {
            boolean unsigned = column.precision() < 0; // BIGINT UNSIGNED is the one integer that is a decimal.
            return unsigned ? DataTypes.DECIMAL(20, 0) : DataTypes.DECIMAL(column.precision(), column.scale());
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
            case "timestamp" -> DataTypes.TIMESTAMP_LTZ(column.fsp());
            case "binary" -> DataTypes.BYTES();
            default -> DataTypes.STRING();
        };
    }

    /** The row as Flink gives it: these formats' messages have one image. */
    private static Reader.Row change(Reader.Table table, Row row) {
        Map<String, Object> image = new LinkedHashMap<>();
        for (int i = 0; i < table.columns().size(); i++) {
            image.put(table.columns().get(i).name(), row.getField(i));
        }
        return switch (row.getKind()) {
            case INSERT -> new Reader.Row("INSERT", null, image);
            case DELETE -> new Reader.Row("DELETE", image, null);
            case UPDATE_BEFORE -> new Reader.Row("UPDATE", image, null);
            case UPDATE_AFTER -> new Reader.Row("UPDATE", null, image);
        };
    }
}
