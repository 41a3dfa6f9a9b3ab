import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.json.canal.CanalJsonFormatFactory;
import org.apache.flink.formats.json.debezium.DebeziumJsonFormatFactory;
import org.apache.flink.formats.json.maxwell.MaxwellJsonFormatFactory;
import org.apache.flink.formats.json.ogg.OggJsonFormatFactory;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.factories.SerializationFormatFactory;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.TypeConversions;
import org.apache.flink.types.RowKind;

/**
 * Writes rows with the serializers of Flink SQL's changelog formats, as its Kafka sink does.
 *
 * Arguments: a file of rows and a file for the messages. A line of the first begins a table (`table`, the format, its options as
 * `name=value`, joined by blanks, then NAME, TYPE for each column) or is a row of it (`row`, the kind of change as Flink prints it,
 * the values as texts); its parts are separated by tabs. Names, texts and binaries are in base64, `NULL` is NULL. The second gets a
 * message for each row.
 */
public class FlinkSinks {
    private static final Map<String, SerializationFormatFactory> FACTORIES = Map.of(
            "canal-json", new CanalJsonFormatFactory(),
            "debezium-json", new DebeziumJsonFormatFactory(),
            "maxwell-json", new MaxwellJsonFormatFactory(),
            "ogg-json", new OggJsonFormatFactory());

    public static void main(String[] arguments) throws Exception {
        SerializationSchema<RowData> serializer = null;
        RowType table = null;
        try (PrintStream messages = new PrintStream(arguments[1], StandardCharsets.UTF_8)) {
            for (String line : Files.readAllLines(Path.of(arguments[0]))) {
                String[] parts = line.split("\t", -1);
                if (parts[0].equals("table")) {
                    table = table(parts);
                    serializer = serializer(parts[1], parts[2], table);
                } else {
                    messages.println(new String(serializer.serialize(row(parts, table)), StandardCharsets.UTF_8));
                }
            }
        }
    }

    /** The type of the rows of a table, from the parts of its line. */
    private static RowType table(String[] parts) {
        List<RowType.RowField> fields = new ArrayList<>();
        for (int i = 3; i < parts.length; i += 2) {
            String name = new String(Base64.getDecoder().decode(parts[i]), StandardCharsets.UTF_8);
            fields.add(new RowType.RowField(
                    name, LogicalTypeParser.parse(parts[i + 1], FlinkSinks.class.getClassLoader())));
        }
        return new RowType(fields);
    }

    private static SerializationSchema<RowData> serializer(String format, String options, RowType table) throws Exception {
        Configuration configuration = new Configuration();
        for (String option : options.isEmpty() ? new String[0] : options.split(" ")) {
            String[] pair = option.split("=");
            configuration.setString(pair[0], pair[1]);
        }
        DataType type = TypeConversions.fromLogicalToDataType(table);
        SerializationSchema<RowData> serializer =
                FACTORIES.get(format).createEncodingFormat(null, configuration).createRuntimeEncoder(null, type);
        serializer.open(null);
        return serializer;
    }

    private static RowData row(String[] parts, RowType table) {
        GenericRowData row = new GenericRowData(table.getFieldCount());
        for (RowKind kind : RowKind.values()) {
            if (kind.shortString().equals(parts[1])) {
                row.setRowKind(kind);
            }
        }
        for (int i = 0; i < table.getFieldCount(); i++) {
            String text = parts[i + 2];
            row.setField(i, text.equals("NULL") ? null : value(text, table.getTypeAt(i)));
        }
        return row;
    }

    /** A value in Flink's internal form. */
    private static Object value(String text, LogicalType type) {
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return Boolean.valueOf(text);
            case TINYINT:
                return Byte.valueOf(text);
            case SMALLINT:
                return Short.valueOf(text);
            case INTEGER:
                return Integer.valueOf(text);
            case BIGINT:
                return Long.valueOf(text);
            case FLOAT:
                return Float.valueOf(text);
            case DOUBLE:
                return Double.valueOf(text);
            case CHAR:
            case VARCHAR:
                return StringData.fromBytes(Base64.getDecoder().decode(text));
            case BINARY:
            case VARBINARY:
                return Base64.getDecoder().decode(text);
            case DECIMAL:
                DecimalType decimal = (DecimalType) type;
                return DecimalData.fromBigDecimal(new BigDecimal(text), decimal.getPrecision(), decimal.getScale());
            case DATE:
                return (int) LocalDate.parse(text).toEpochDay();
            case TIME_WITHOUT_TIME_ZONE:
                return (int) (LocalTime.parse(text).toNanoOfDay() / 1_000_000);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return TimestampData.fromLocalDateTime(LocalDateTime.parse(text));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return TimestampData.fromInstant(Instant.parse(text));
            default:
                throw new IllegalArgumentException("no values of type " + type);
        }
    }
}
