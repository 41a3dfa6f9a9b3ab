import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.cdc.common.data.DecimalData;
import org.apache.flink.cdc.common.data.LocalZonedTimestampData;
import org.apache.flink.cdc.common.data.RecordData;
import org.apache.flink.cdc.common.data.TimestampData;
import org.apache.flink.cdc.common.data.binary.BinaryStringData;
import org.apache.flink.cdc.common.event.CreateTableEvent;
import org.apache.flink.cdc.common.event.DataChangeEvent;
import org.apache.flink.cdc.common.event.Event;
import org.apache.flink.cdc.common.event.TableId;
import org.apache.flink.cdc.common.schema.Schema;
import org.apache.flink.cdc.common.types.DataType;
import org.apache.flink.cdc.common.types.DataTypes;
import org.apache.flink.cdc.common.types.DecimalType;
import org.apache.flink.cdc.connectors.kafka.json.ChangeLogJsonFormatFactory;
import org.apache.flink.cdc.connectors.kafka.json.JsonSerializationType;
import org.apache.flink.cdc.connectors.kafka.sink.KeyFormat;
import org.apache.flink.cdc.connectors.kafka.sink.KeySerializationFactory;
import org.apache.flink.cdc.runtime.typeutils.BinaryRecordDataGenerator;
import org.apache.flink.configuration.Configuration;

/**
 * Writes row changes with the serializers of the Kafka sink of Flink CDC's pipelines.
 *
 * Arguments: a file of changes and a file for the messages. A line of the first begins a table (`table`, the format, its options as
 * `name=value`, joined by blanks, the database, the table, the number of the key's columns, these, then NAME, TYPE for each column) or
 * is a change of it (`change`, then the values before it as texts, or nothing but `-`, and those after it likewise); its parts are
 * separated by tabs. Names, texts and binaries are in base64, `NULL` is NULL. The second gets the record's key and its value, with a tab
 * between them, for each change.
 */
public class FlinkCdcSinks {
    private final SerializationSchema<Event> keys;
    private final SerializationSchema<Event> values;
    private final TableId table;
    private final DataType[] types;
    private final BinaryRecordDataGenerator rows;

    public static void main(String[] arguments) throws Exception {
        FlinkCdcSinks sink = null;
        try (PrintStream messages = new PrintStream(arguments[1], StandardCharsets.UTF_8)) {
            for (String line : Files.readAllLines(Path.of(arguments[0]))) {
                String[] parts = line.split("\t", -1);
                if (parts[0].equals("table")) {
                    sink = new FlinkCdcSinks(parts);
                } else {
                    messages.println(sink.message(parts));
                }
            }
        }
    }

    /** The sink of a table, from the parts of its line. */
    private FlinkCdcSinks(String[] parts) throws Exception {
        Configuration options = new Configuration();
        for (String option : parts[2].isEmpty() ? new String[0] : parts[2].split(" ")) {
            String[] pair = option.split("=");
            options.setString(pair[0], pair[1]);
        }
        table = TableId.tableId(text(parts[3]), text(parts[4]));
        int columns = 6 + Integer.parseInt(parts[5]);
        List<String> key = new ArrayList<>();
        for (int i = 6; i < columns; i++) {
            key.add(text(parts[i]));
        }
        Schema.Builder schema = Schema.newBuilder();
        List<DataType> columnTypes = new ArrayList<>();
        for (int i = columns; i < parts.length; i += 2) {
            DataType type = type(parts[i + 1]);
            columnTypes.add(type);
            schema.physicalColumn(text(parts[i]), type);
        }
        types = columnTypes.toArray(new DataType[0]);
        rows = new BinaryRecordDataGenerator(types);
        ZoneId zone = ZoneId.of("UTC");
        JsonSerializationType format = parts[1].equals("canal-json")
                ? JsonSerializationType.CANAL_JSON
                : JsonSerializationType.DEBEZIUM_JSON;
        keys = KeySerializationFactory.createSerializationSchema(new Configuration(), KeyFormat.JSON, zone);
        values = ChangeLogJsonFormatFactory.createSerializationSchema(options, format, zone);
        CreateTableEvent created = new CreateTableEvent(table, schema.primaryKey(key).build());
        for (SerializationSchema<Event> serializer : Arrays.asList(keys, values)) {
            serializer.open(null);
            if (serializer.serialize(created) != null) {
                throw new IllegalStateException("a statement has a message");
            }
        }
    }

    /** The key and the value of a change. */
    private String message(String[] parts) throws Exception {
        boolean inserted = parts[1].equals("-");
        RecordData before = inserted ? null : row(parts, 1);
        int next = inserted ? 2 : 1 + types.length;
        RecordData after = parts[next].equals("-") ? null : row(parts, next);
        Event change = before == null
                ? DataChangeEvent.insertEvent(table, after)
                : after == null
                        ? DataChangeEvent.deleteEvent(table, before)
                        : DataChangeEvent.updateEvent(table, before, after);
        return new String(keys.serialize(change), StandardCharsets.UTF_8)
                + "\t"
                + new String(values.serialize(change), StandardCharsets.UTF_8);
    }

    private RecordData row(String[] parts, int first) throws Exception {
        Object[] values = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            String text = parts[first + i];
            values[i] = text.equals("NULL") ? null : value(text, types[i]);
        }
        return rows.generate(values);
    }

    private static String text(String base64) {
        return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
    }

    /** Flink CDC's type of this name. */
    private static DataType type(String name) {
        String[] parts = name.split("[(), ]+");
        switch (parts[0]) {
            case "BOOLEAN":
                return DataTypes.BOOLEAN();
            case "TINYINT":
                return DataTypes.TINYINT();
            case "SMALLINT":
                return DataTypes.SMALLINT();
            case "INT":
                return DataTypes.INT();
            case "BIGINT":
                return DataTypes.BIGINT();
            case "FLOAT":
                return DataTypes.FLOAT();
            case "DOUBLE":
                return DataTypes.DOUBLE();
            case "STRING":
                return DataTypes.STRING();
            case "BYTES":
                return DataTypes.BYTES();
            case "DATE":
                return DataTypes.DATE();
            case "DECIMAL":
                return DataTypes.DECIMAL(Integer.parseInt(parts[1]), Integer.parseInt(parts[2]));
            case "TIMESTAMP":
                return DataTypes.TIMESTAMP(Integer.parseInt(parts[1]));
            case "TIMESTAMP_LTZ":
                return DataTypes.TIMESTAMP_LTZ(Integer.parseInt(parts[1]));
            default:
                throw new IllegalArgumentException("no type " + name);
        }
    }

    /** A value in Flink CDC's internal form. */
    private static Object value(String text, DataType type) throws Exception {
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
                return BinaryStringData.fromString(text(text));
            case BINARY:
            case VARBINARY:
                return Base64.getDecoder().decode(text);
            case DECIMAL:
                DecimalType decimal = (DecimalType) type;
                return DecimalData.fromBigDecimal(new BigDecimal(text), decimal.getPrecision(), decimal.getScale());
            case DATE:
                return date((int) LocalDate.parse(text).toEpochDay());
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return TimestampData.fromLocalDateTime(LocalDateTime.parse(text));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return LocalZonedTimestampData.fromInstant(Instant.parse(text));
            default:
                throw new IllegalArgumentException("no values of type " + type);
        }
    }

    /** A date, which is a number of days until Flink CDC 3.3 and has a class of its own later. */
    private static Object date(int days) throws Exception {
        try {
            Class<?> dates = Class.forName("org.apache.flink.cdc.common.data.DateData");
            return dates.getMethod("fromEpochDay", int.class).invoke(null, days);
        } catch (ClassNotFoundException old) {
            return days;
        }
    }
}
