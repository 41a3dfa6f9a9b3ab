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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.seatunnel.api.table.type.BasicType;
import org.apache.seatunnel.api.table.type.DecimalType;
import org.apache.seatunnel.api.table.type.LocalTimeType;
import org.apache.seatunnel.api.table.type.PrimitiveByteArrayType;
import org.apache.seatunnel.api.table.type.RowKind;
import org.apache.seatunnel.api.table.type.SeaTunnelDataType;
import org.apache.seatunnel.api.table.type.SeaTunnelRow;
import org.apache.seatunnel.api.table.type.SeaTunnelRowType;
import org.apache.seatunnel.connectors.seatunnel.kafka.config.MessageFormat;
import org.apache.seatunnel.connectors.seatunnel.kafka.serialize.DefaultSeaTunnelRowSerializer;

/**
 * Writes rows with the serializer of SeaTunnel's Kafka sink, format canal_json.
 *
 * Arguments: a file of rows, a file for the messages, and the source's server-time-zone. A line of the first begins a table (`table`,
 * the number of key columns, their names, then NAME, TYPE for each column) or is a row of it (`row`, the kind of change as SeaTunnel
 * prints it, the values as texts); its parts are separated by tabs. Names, texts and binaries are in base64, `NULL` is NULL. The
 * second gets key and value of each message, separated by a tab; a record without a key has none before the tab.
 */
public class SeaTunnelSink {
    private static final Map<String, SeaTunnelDataType<?>> TYPES = new HashMap<>();

    static {
        TYPES.put("BOOLEAN", BasicType.BOOLEAN_TYPE);
        TYPES.put("TINYINT", BasicType.BYTE_TYPE);
        TYPES.put("SMALLINT", BasicType.SHORT_TYPE);
        TYPES.put("INT", BasicType.INT_TYPE);
        TYPES.put("BIGINT", BasicType.LONG_TYPE);
        TYPES.put("FLOAT", BasicType.FLOAT_TYPE);
        TYPES.put("DOUBLE", BasicType.DOUBLE_TYPE);
        TYPES.put("STRING", BasicType.STRING_TYPE);
        TYPES.put("BYTES", PrimitiveByteArrayType.INSTANCE);
        TYPES.put("DATE", LocalTimeType.LOCAL_DATE_TYPE);
        TYPES.put("TIMESTAMP", LocalTimeType.LOCAL_DATE_TIME_TYPE);
    }

    public static void main(String[] arguments) throws Exception {
        ZoneId zone = ZoneId.of(arguments[2]);
        DefaultSeaTunnelRowSerializer serializer = null;
        SeaTunnelRowType table = null;
        try (PrintStream messages = new PrintStream(arguments[1], StandardCharsets.UTF_8)) {
            for (String line : Files.readAllLines(Path.of(arguments[0]))) {
                String[] parts = line.split("\t", -1);
                if (parts[0].equals("table")) {
                    int keys = Integer.parseInt(parts[1]);
                    table = table(Arrays.copyOfRange(parts, 2 + keys, parts.length));
                    serializer = serializer(Arrays.copyOfRange(parts, 2, 2 + keys), table);
                } else {
                    ProducerRecord<?, ?> record = serializer.serializeRow(row(parts, table, zone));
                    messages.println(text(record.key()) + "\t" + text(record.value()));
                }
            }
        }
    }

    private static String text(Object bytes) {
        return bytes == null ? "" : new String((byte[]) bytes, StandardCharsets.UTF_8);
    }

    /** The type of the rows of a table, from the names and types of its columns. */
    private static SeaTunnelRowType table(String[] columns) {
        String[] names = new String[columns.length / 2];
        SeaTunnelDataType<?>[] types = new SeaTunnelDataType<?>[names.length];
        for (int i = 0; i < names.length; i++) {
            names[i] = decoded(columns[2 * i]);
            String type = columns[2 * i + 1];
            if (type.startsWith("DECIMAL")) {
                String[] digits = type.substring(8, type.length() - 1).split(", ");
                types[i] = new DecimalType(Integer.parseInt(digits[0]), Integer.parseInt(digits[1]));
            } else {
                types[i] = TYPES.get(type);
            }
        }
        return new SeaTunnelRowType(names, types);
    }

    /** The serializer as KafkaSinkWriter makes it: with partition_key_fields, or with none. */
    private static DefaultSeaTunnelRowSerializer serializer(String[] keys, SeaTunnelRowType table) throws Exception {
        List<String> names = new ArrayList<>();
        for (String key : keys) {
            names.add(decoded(key));
        }
        for (java.lang.reflect.Method create : DefaultSeaTunnelRowSerializer.class.getMethods()) {
            if (create.getName().equals("create") && create.getParameterCount() >= 5 && create.getParameterTypes()[1] == List.class) {
                Object[] given = {"topic", names, table, MessageFormat.CANAL_JSON, ",", null};
                Object[] taken = Arrays.copyOf(given, create.getParameterCount());
                return (DefaultSeaTunnelRowSerializer) create.invoke(null, taken);
            }
        }
        throw new IllegalStateException("DefaultSeaTunnelRowSerializer has no create with keys");
    }

    private static SeaTunnelRow row(String[] parts, SeaTunnelRowType table, ZoneId zone) {
        SeaTunnelRow row = new SeaTunnelRow(table.getTotalFields());
        for (RowKind kind : RowKind.values()) {
            if (kind.shortString().equals(parts[1])) {
                row.setRowKind(kind);
            }
        }
        for (int i = 0; i < table.getTotalFields(); i++) {
            String text = parts[i + 2];
            row.setField(i, text.equals("NULL") ? null : value(text, table.getFieldType(i), zone));
        }
        return row;
    }

    /** A value in SeaTunnel's form; an instant is its wall clock in the source's server-time-zone. */
    private static Object value(String text, SeaTunnelDataType<?> type, ZoneId zone) {
        switch (type.getSqlType()) {
            case BOOLEAN:
                return Boolean.valueOf(text);
            case TINYINT:
                return Byte.valueOf(text);
            case SMALLINT:
                return Short.valueOf(text);
            case INT:
                return Integer.valueOf(text);
            case BIGINT:
                return Long.valueOf(text);
            case FLOAT:
                return Float.valueOf(text);
            case DOUBLE:
                return Double.valueOf(text);
            case STRING:
                return decoded(text);
            case BYTES:
                return Base64.getDecoder().decode(text);
            case DECIMAL:
                return new BigDecimal(text);
            case DATE:
                return LocalDate.parse(text);
            case TIMESTAMP:
                return text.endsWith("Z") ? LocalDateTime.ofInstant(Instant.parse(text), zone) : LocalDateTime.parse(text);
            default:
                throw new IllegalArgumentException("no values of type " + type);
        }
    }

    private static String decoded(String text) {
        return new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8);
    }
}
