package connect;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Transformation;
import scoreboard.Reader;

/** Kafka Connect's JsonConverter: the envelope's op, before and after, as a sink gets them, or the row that a transform makes. */
public final class ConnectReader implements Reader.Factory {
    private static final Map<String, String> OPS = Map.of("c", "INSERT", "r", "READ", "u", "UPDATE", "d", "DELETE", "t", "TRUNCATE");

    @Override
    @SuppressWarnings("unchecked")
    public Reader open(String format, Reader.Table table, String timeZone, Map<String, String> options) throws Exception {
        JsonConverter converter = new JsonConverter();
        converter.configure(options, false);
        Transformation<SinkRecord> transform = null;
        if (options.containsKey("transform")) { // A worker makes it by its name, too.
            transform = (Transformation<SinkRecord>) Class.forName(options.get("transform")).getDeclaredConstructor().newInstance();
            transform.configure(Map.of());
        }
        Transformation<SinkRecord> flattens = transform;
        String outer = table.schema() == null ? table.database() : table.schema();
        String topic = ("." + outer + "." + table.name()).replaceAll("[^A-Za-z0-9._-]", "_");
        return message -> message.topic().endsWith(topic) ? read(converter, flattens, table, message) : List.of();
    }

    private static List<Reader.Row> read(
            JsonConverter converter, Transformation<SinkRecord> flattens, Reader.Table table, Reader.Message message) {
        SchemaAndValue read = converter.toConnectData(message.topic(), message.value());
        if (read.value() == null) {
            return List.of(); // A tombstone.
        }
        Struct envelope = (Struct) read.value();
        if (flattens != null) {
            SinkRecord record = flattens.apply(new SinkRecord(message.topic(), 0, null, null, read.schema(), envelope, 0));
            Struct row = (Struct) record.value();
            Map<String, Object> image = image(table, row);
            String flag = row.getStruct("_cdc").getString("op");
            return List.of(
                    flag.equals("D") ? new Reader.Row("DELETE", image, null)
                            : new Reader.Row(flag.equals("U") ? "UPDATE" : "INSERT", null, image));
        }
        String op = OPS.get(envelope.getString("op"));
        if (op == null) {
            return List.of();
        }
        return List.of(new Reader.Row(op, image(table, envelope.getStruct("before")), image(table, envelope.getStruct("after"))));
    }

    private static Map<String, Object> image(Reader.Table table, Struct struct) {
        if (struct == null) {
            return null;
        }
        Map<String, Object> image = new LinkedHashMap<>();
        for (Reader.Column column : table.columns()) {
            Field field = struct.schema().field(column.name());
            if (field != null) {
                image.put(column.name(), cell(column, field.schema(), struct.getWithoutDefault(field.name())));
            }
        }
        return image;
    }

    /** Connect's value: its own logical types as Java's dates and times, a boolean of a TINYINT as 1 or 0, others as they are. */
    private static Object cell(Reader.Column column, Schema schema, Object value) {
        if (value instanceof Boolean truth && !column.spark().equals("boolean")) {
            return truth ? 1 : 0;
        } else if (value instanceof ByteBuffer buffer) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.duplicate().get(bytes);
            return bytes;
        } else if (value instanceof java.util.Date date) {
            LocalDateTime time = LocalDateTime.ofInstant(Instant.ofEpochMilli(date.getTime()), ZoneOffset.UTC);
            return switch (schema.name()) {
                case org.apache.kafka.connect.data.Date.LOGICAL_NAME -> LocalDate.from(time);
                case org.apache.kafka.connect.data.Time.LOGICAL_NAME -> clock(date.getTime());
                default -> time;
            };
        }
        return value;
    }

    /** Milliseconds of a day as a text; Connect's value can be the end of the day. */
    private static String clock(long millis) {
        return String.format(
                Locale.ROOT, "%02d:%02d:%02d.%03d", millis / 3_600_000, millis / 60_000 % 60, millis / 1000 % 60, millis % 1000);
    }
}
