package scoreboard;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Serves a reader as a decoder of typed rows over the harness's JSON-lines protocol. It turns the reader's values into the
 * protocol's forms and repairs nothing. Arguments: the factory's class name, the capabilities as a JSON object, and the reader's
 * options as NAME=VALUE.
 */
public final class Adapter {
    private static final ObjectMapper JSON = new ObjectMapper().configure(JsonGenerator.Feature.WRITE_BIGDECIMAL_AS_PLAIN, true);

    private final Reader.Factory factory;
    private final Map<String, String> options;
    private final PrintStream out;
    private String format = "";
    private Reader reader;
    private Throwable refused;

    private Adapter(Reader.Factory factory, Map<String, String> options, PrintStream out) {
        this.factory = factory;
        this.options = options;
        this.out = out;
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // Standard output is the protocol's.
        Reader.Factory factory = (Reader.Factory) Class.forName(args[0]).getDeclaredConstructor().newInstance();
        Map<String, String> options = new TreeMap<>();
        for (String option : Arrays.asList(args).subList(2, args.length)) {
            options.put(option.substring(0, option.indexOf('=')), option.substring(option.indexOf('=') + 1));
        }
        Adapter adapter = new Adapter(factory, options, out);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            adapter.serve(JSON.readTree(line), args[1]);
        }
    }

    private void serve(JsonNode line, String capabilities) throws Exception {
        switch (line.get("type").asText()) {
            case "start" -> {
                format = line.get("format").asText();
                ObjectNode started = JSON.createObjectNode().put("type", "started").put("cdc", 1).put("language", "Java");
                started.putArray("levels").add(2);
                started.put("bytes", "base64").put("labels", true).set("capabilities", JSON.readTree(capabilities));
                write(started);
                out.flush();
            }
            case "begin" -> begin(line);
            case "record" -> write(answer(line));
            case "end" -> {
                write(JSON.createObjectNode().put("type", "ended").put("batch", line.get("batch").asInt()));
                out.flush();
            }
            default -> throw new IllegalArgumentException(line.get("type").asText());
        }
    }

    private void begin(JsonNode line) {
        refused = null;
        try {
            reader = factory.open(format, table(line.get("table")), line.get("deployment").get("time_zone").asText(), options);
        } catch (Exception | LinkageError e) {
            refused = e; // The reader cannot have this table: each of its messages is refused.
        }
    }

    private ObjectNode answer(JsonNode record) {
        ObjectNode answer = JSON.createObjectNode().put("type", "rows").put("seq", record.get("seq").asLong());
        ArrayNode rows = answer.putArray("rows");
        try {
            if (refused != null) {
                throw refused;
            }
            byte[] key = bytes(record.get("key"));
            List<Reader.Row> read = reader.read(new Reader.Message(record.get("topic").asText(), key, bytes(record.get("value"))));
            for (Reader.Row row : read) {
                ObjectNode change = JSON.createObjectNode().put("row", rows.size()).put("kind", "ROW").put("op", row.op());
                change.set("before", image(row.before()));
                change.set("after", image(row.after()));
                rows.add(change);
            }
        } catch (LinkageError e) {
            // A missing or wrong jar is a fault of the adapter's bundle, and no answer of the reader.
            return JSON.createObjectNode().put("type", "error").put("seq", record.get("seq").asLong()).put("error", why(e));
        } catch (Throwable e) {
            rows.removeAll();
            rows.add(JSON.createObjectNode().put("row", 0).put("kind", "CORRUPT").put("error", why(e)));
        }
        return answer;
    }

    /** The error and its causes, the last cause first: it says most, and the others may hold the whole message. */
    private static String why(Throwable error) {
        StringBuilder text = new StringBuilder();
        for (Throwable e = error; e != null; e = e.getCause() == e ? null : e.getCause()) {
            text.insert(0, e + (text.isEmpty() ? "" : "; "));
        }
        return text.substring(0, Math.min(text.length(), 2000));
    }

    private void write(JsonNode line) {
        try {
            out.print(JSON.writeValueAsString(line));
            out.print('\n');
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] bytes(JsonNode node) {
        return node.isNull() ? null : Base64.getDecoder().decode(node.get("base64").asText());
    }

    private static ObjectNode image(Map<String, Object> cells) {
        if (cells == null) {
            return null;
        }
        ObjectNode image = JSON.createObjectNode();
        cells.forEach((name, value) -> image.set(name, cell(value)));
        return image;
    }

    /** A value in the form that the protocol has for its class; another class in Java's own text. */
    private static JsonNode cell(Object value) {
        if (value == null) {
            return null;
        } else if (value instanceof Boolean b) {
            return JSON.getNodeFactory().booleanNode(b);
        } else if (value instanceof byte[] bytes) {
            return JSON.createObjectNode().put("base64", Base64.getEncoder().encodeToString(bytes));
        } else if (value instanceof BigDecimal decimal) {
            return JSON.getNodeFactory().textNode(decimal.toPlainString());
        } else if (value instanceof Instant instant) {
            return JSON.getNodeFactory().textNode(clock(instant.atOffset(ZoneOffset.UTC).toLocalDateTime()) + "Z");
        } else if (value instanceof LocalDateTime time) {
            return JSON.getNodeFactory().textNode(clock(time));
        } else if (value instanceof LocalTime time) {
            return JSON.getNodeFactory().textNode(DateTimeFormatter.ISO_LOCAL_TIME.format(time));
        } else if (value instanceof LocalDate date) {
            return JSON.getNodeFactory().textNode(date.toString());
        } else if (value instanceof List<?> list) {
            List<String> texts = new ArrayList<>();
            list.forEach(element -> texts.add(String.valueOf(element)));
            return JSON.getNodeFactory().textNode(String.join(",", texts));
        }
        return JSON.getNodeFactory().textNode(String.valueOf(value));
    }

    private static String clock(LocalDateTime time) {
        return DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(time.withNano(time.getNano() / 1000 * 1000));
    }

    /** The table of a `begin` line. */
    public static Reader.Table table(JsonNode node) {
        List<String> key = new ArrayList<>();
        node.get("primary_key").forEach(name -> key.add(name.asText()));
        List<Reader.Column> columns = new ArrayList<>();
        for (JsonNode column : node.get("columns")) {
            JsonNode type = column.get("type");
            List<String> members = new ArrayList<>();
            type.path("members").forEach(member -> members.add(member.asText()));
            columns.add(new Reader.Column(
                    column.get("name").asText(),
                    type.get("name").asText(),
                    type.get("logical").asText(),
                    column.get("spark").asText(),
                    column.get("nullable").asBoolean(),
                    type.path("unsigned").asBoolean(false),
                    type.path("length").asInt(-1),
                    type.path("precision").asInt(-1),
                    type.path("scale").asInt(-1),
                    type.path("fsp").asInt(0),
                    members));
        }
        JsonNode schema = node.get("schema");
        return new Reader.Table(
                node.get("database").asText(), schema.isNull() ? null : schema.asText(), node.get("name").asText(), key, columns);
    }
}
