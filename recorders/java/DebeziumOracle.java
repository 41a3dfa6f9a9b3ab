import io.debezium.config.Configuration;
import io.debezium.connector.oracle.OracleConnection;
import io.debezium.connector.oracle.OracleConnectorConfig;
import io.debezium.connector.oracle.OracleValueConverters;
import io.debezium.relational.Column;
import io.debezium.relational.ColumnEditor;
import io.debezium.relational.TableId;
import io.debezium.relational.ValueConverter;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import oracle.sql.CharacterSet;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;

/**
 * Writes what the classes of Debezium's Oracle connector, and of Oracle's driver for values that a snapshot read, make of columns, values
 * and source blocks: without a database. Classes and constructors that differ by release are found at run time.
 *
 * Arguments: a file of requests, one a line, its parts divided by tabs; and a file for the results, a line of JSON each.
 *
 *   value TYPE JDBC LENGTH SCALE OPTIONAL DECIMAL TEMPORAL BINARY INTERVAL WORD TEXT   {"schema": ..., "value": ...}
 *   source SNAPSHOT TXID SCN COMMIT_SCN RS_ID THREAD USER ROW_ID START DB SCHEMA TABLE MS   {"schema": ..., "value": ...}
 *
 * LENGTH and SCALE are "-" where the connector knows none. WORD says how TEXT is handed over: "log" as LogMiner's text, else as an object
 * of the driver or of Java. A result of {"refused": ...} is the error of a class.
 */
public class DebeziumOracle {
    private static final String PACKAGE = "io.debezium.connector.oracle.";
    private static final JsonConverter JSON = new JsonConverter();

    /** A connection that knows the character sets, and is never opened. */
    static class Closed extends OracleConnection {
        Closed() {
            super((io.debezium.jdbc.JdbcConfiguration) null, true);
        }

        public CharacterSet getNationalCharacterSet() {
            return CharacterSet.make(CharacterSet.AL16UTF16_CHARSET);
        }

        public CharacterSet getDatabaseCharacterSet() {
            return CharacterSet.make(CharacterSet.AL32UTF8_CHARSET);
        }
    }

    public static void main(String[] arguments) throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        JSON.configure(Map.of("schemas.enable", "false", "converter.type", "value", "replace.null.with.default", "false"));
        List<String> results = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String result;
            try {
                String[] parts = line.split("\t", -1);
                result = parts[0].equals("source") ? source(parts) : value(parts);
            } catch (Throwable error) {
                Throwable cause = error;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                if (System.getenv("TRACE") != null) {
                    cause.printStackTrace();
                }
                result = "{\"refused\":\"" + cause.getClass().getSimpleName() + "\"}";
            }
            results.add(result);
        }
        Files.write(Path.of(arguments[1]), results);
        System.exit(0);
    }

    private static OracleConnection closed() throws Exception {
        Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Object unsafe = field.get(null);
        return (OracleConnection) unsafe.getClass().getMethod("allocateInstance", Class.class).invoke(unsafe, Closed.class);
    }

    private static OracleConnectorConfig config(String decimal, String temporal, String binary, String interval, String database) {
        return new OracleConnectorConfig(Configuration.create()
                .with("topic.prefix", "cdc").with("database.hostname", "localhost").with("database.dbname", database)
                .with("lob.enabled", "true").with("decimal.handling.mode", decimal).with("time.precision.mode", temporal)
                .with("binary.handling.mode", binary).with("interval.handling.mode", interval).build());
    }

    private static String value(String[] parts) throws Exception {
        boolean optional = parts[5].equals("true");
        ColumnEditor editor = Column.editor().name("c").type(parts[1]).jdbcType(Integer.parseInt(parts[2])).optional(optional).position(1);
        if (!parts[3].equals("-")) {
            editor.length(Integer.parseInt(parts[3]));
        }
        if (!parts[4].equals("-")) {
            editor.scale(Integer.parseInt(parts[4]));
        }
        Column column = editor.create();
        OracleValueConverters converters = new OracleValueConverters(config(parts[6], parts[7], parts[8], parts[9], "ORCL"), closed());
        SchemaBuilder builder = converters.schemaBuilder(column);
        if (builder == null) {
            return "{\"left_out\":true}";
        }
        if (optional) {
            builder.optional();
        }
        Schema schema = builder.build();
        ValueConverter converter = converters.converter(column, new org.apache.kafka.connect.data.Field("c", 0, schema));
        Object converted = converter.convert(given(parts[10], unescaped(parts[11])));
        return "{\"schema\":" + JSON.asJsonSchema(schema) + ",\"value\":" + json(schema, converted) + "}";
    }

    /** A value as LogMiner's parser, or the driver's result set, gives it. */
    private static Object given(String word, String text) throws Exception {
        switch (word) {
            case "log":
                return text;
            case "unavailable":
                return OracleValueConverters.UNAVAILABLE_VALUE;
            case "number":
                return new oracle.sql.NUMBER(new BigDecimal(text));
            case "binary_float":
                return new oracle.sql.BINARY_FLOAT(Float.parseFloat(text));
            case "binary_double":
                return new oracle.sql.BINARY_DOUBLE(Double.parseDouble(text));
            case "raw":
                return new oracle.sql.RAW(HexFormat.of().parseHex(text));
            case "bytes":
                return HexFormat.of().parseHex(text);
            case "date":
                return new oracle.sql.DATE(HexFormat.of().parseHex(text));
            case "timestamp":
                return new oracle.sql.TIMESTAMP(HexFormat.of().parseHex(text));
            case "zoned":
                return new oracle.sql.TIMESTAMPTZ(HexFormat.of().parseHex(text));
            case "local":
                return OffsetDateTime.parse(text).toZonedDateTime();
            case "interval-year":
                return new oracle.sql.INTERVALYM(text);
            case "interval-day":
                return new oracle.sql.INTERVALDS(text);
            default:
                throw new IllegalArgumentException(word);
        }
    }

    private static String unescaped(String text) {
        StringBuilder result = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == '\\') {
                result.append((char) Integer.parseInt(text.substring(i + 1, i + 5), 16));
                i += 4;
            } else {
                result.append(text.charAt(i));
            }
        }
        return result.toString();
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static String source(String[] parts) throws Exception {
        OracleConnectorConfig config = config("precise", "adaptive", "bytes", "numeric", parts[10]);
        Class<?> infoClass = Class.forName(PACKAGE + "SourceInfo");
        Constructor<?> constructor = infoClass.getDeclaredConstructor(OracleConnectorConfig.class);
        constructor.setAccessible(true);
        Object info = constructor.newInstance(config);
        Class<?> scn = Class.forName(PACKAGE + "Scn");
        boolean streamed = parts[1].equals("FALSE");
        set(info, "setEventScn", scn.getMethod("valueOf", String.class).invoke(null, parts[3]));
        set(info, "tableEvent", new TableId(parts[10], parts[11], parts[12]));
        set(info, "setSourceTime", Instant.ofEpochMilli(Long.parseLong(parts[13])));
        if (streamed) {
            Object commit = scn.getMethod("valueOf", String.class).invoke(null, parts[4]);
            set(info, "setTransactionId", parts[2]);
            set(info, "setTransactionSequence", 1L);
            set(info, "setEventCommitScn", commit);
            set(info, "setRsId", parts[5]);
            set(info, "setRedoThread", Integer.parseInt(parts[6]));
            set(info, "setUserName", parts[7]);
            set(info, "setRowId", parts[8]);
            set(info, "setStartScn", scn.getMethod("valueOf", String.class).invoke(null, parts[9]));
            set(info, "setStartTime", Instant.ofEpochMilli(Long.parseLong(parts[13])));
            set(info, "setCommitTime", Instant.ofEpochMilli(Long.parseLong(parts[13])));
            Object commits = Class.forName(PACKAGE + "CommitScn").getMethod("valueOf", String.class).invoke(null, parts[4] + ":" + parts[6] + ":");
            set(info, "setCommitScn", commits);
        }
        Class<Enum> records = (Class<Enum>) Class.forName("io.debezium.connector.SnapshotRecord");
        set(info, "setSnapshot", Enum.valueOf(records, parts[1]));
        Object maker = Class.forName(PACKAGE + "OracleSourceInfoStructMaker").getConstructor().newInstance();
        for (Method method : maker.getClass().getMethods()) {
            if (method.getName().equals("init")) {
                method.invoke(maker, "oracle", (String) Class.forName(PACKAGE + "Module").getMethod("version").invoke(null), config);
            }
        }
        Struct struct = (Struct) maker.getClass().getMethod("struct", infoClass).invoke(maker, info);
        return "{\"schema\":" + JSON.asJsonSchema(struct.schema()) + ",\"value\":" + json(struct.schema(), struct) + "}";
    }

    /** Calls a method of the source's facts, if the release has it. */
    private static void set(Object info, String name, Object value) throws Exception {
        for (Class<?> type = info.getClass(); type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                Class<?>[] types = method.getParameterTypes();
                if (method.getName().equals(name) && types.length == 1 && (types[0].isInstance(value) || value instanceof Integer)) {
                    method.setAccessible(true);
                    method.invoke(info, value);
                    return;
                }
            }
        }
    }

    private static String json(Schema schema, Object value) {
        return new String(JSON.fromConnectData("t", schema, value), StandardCharsets.UTF_8);
    }
}
