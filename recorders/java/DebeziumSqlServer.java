import io.debezium.config.Configuration;
import io.debezium.relational.Column;
import io.debezium.relational.ColumnEditor;
import io.debezium.relational.Table;
import io.debezium.relational.TableEditor;
import io.debezium.relational.TableId;
import io.debezium.relational.ValueConverter;
import io.debezium.relational.ValueConverterProvider;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TimeZone;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;

/**
 * Writes what the classes of Debezium's SQL Server connector, and of Microsoft's driver for dates and times, make of columns, values,
 * defaults, source blocks and tables: without a database. Classes and constructors that differ by release are found at run time.
 *
 * Arguments: a file of requests, one a line, its parts divided by tabs; and a file for the results, a line of JSON each.
 *
 *   value TYPE JDBC LENGTH SCALE OPTIONAL DECIMAL TEMPORAL BINARY WORD TEXT   {"schema": ..., "value": ...}
 *   default TYPE JDBC LENGTH SCALE DECIMAL TEMPORAL BINARY EXPRESSION         {"schema": ...} with the default that the connector knows
 *   source SNAPSHOT COMMIT_LSN CHANGE_LSN SERIAL DB SCHEMA TABLE MS           {"schema": ..., "value": ...}
 *   table DB SCHEMA TABLE KEY COLUMN...                                       the element of tableChanges; a column is TYPE,JDBC,LENGTH,SCALE,OPTIONAL,NAME
 *
 * LENGTH and SCALE are "-" where the driver gives none. A result of {"refused": ...} is the error of a class.
 */
public class DebeziumSqlServer {
    private static final String PACKAGE = "io.debezium.connector.sqlserver.";
    private static final JsonConverter JSON = new JsonConverter();

    public static void main(String[] arguments) throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        JSON.configure(Map.of("schemas.enable", "false", "converter.type", "value", "replace.null.with.default", "false"));
        List<String> results = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String result;
            try {
                result = answer(line.split("\t", -1));
            } catch (Throwable error) {
                Throwable cause = error;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                result = "{\"refused\":\"" + cause.getClass().getSimpleName() + "\"}";
            }
            results.add(result);
        }
        Files.write(Path.of(arguments[1]), results);
    }

    private static String answer(String[] parts) throws Exception {
        switch (parts[0]) {
            case "value":
                return value(parts);
            case "default":
                return defaultOf(parts);
            case "source":
                return source(parts);
            case "table":
                return table(parts);
            default:
                throw new IllegalArgumentException(parts[0]);
        }
    }

    private static Column column(String name, String type, String jdbc, String length, String scale, boolean optional, int position) {
        ColumnEditor editor = Column.editor().name(name).type(type).jdbcType(Integer.parseInt(jdbc)).optional(optional).position(position);
        if (!length.equals("-")) {
            editor.length(Integer.parseInt(length));
        }
        if (!scale.equals("-")) {
            editor.scale(Integer.parseInt(scale));
        }
        return editor.create();
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static ValueConverterProvider converters(String decimal, String temporal, String binary) throws Exception {
        for (Constructor<?> constructor : Class.forName(PACKAGE + "SqlServerValueConverters").getConstructors()) {
            Class<?>[] types = constructor.getParameterTypes();
            boolean hasPlaceholder = types.length == 4;
            if (types.length != 3 && !hasPlaceholder) {
                continue;
            }
            Object[] values = new Object[types.length];
            String[] options = {decimal, temporal, binary};
            for (int i = 0; i < 3; i++) {
                String option = options[i].toUpperCase(Locale.ROOT).replace('-', '_');
                values[i] = Enum.valueOf((Class<Enum>) types[i], option);
            }
            if (hasPlaceholder) {
                values[3] = "__debezium_unavailable_value".getBytes(StandardCharsets.UTF_8);
            }
            if (hasPlaceholder || !hasFourParts()) {
                return (ValueConverterProvider) constructor.newInstance(values);
            }
        }
        throw new IllegalStateException("no constructor of SqlServerValueConverters");
    }

    private static boolean hasFourParts() throws ClassNotFoundException {
        for (Constructor<?> constructor : Class.forName(PACKAGE + "SqlServerValueConverters").getConstructors()) {
            if (constructor.getParameterCount() == 4) {
                return true;
            }
        }
        return false;
    }

    private static String value(String[] parts) throws Exception {
        boolean optional = parts[5].equals("true");
        Column column = column("c", parts[1], parts[2], parts[3], parts[4], optional, 1);
        ValueConverterProvider converters = converters(parts[6], parts[7], parts[8]);
        SchemaBuilder builder = converters.schemaBuilder(column);
        if (builder == null) {
            return "{\"left_out\":true}";
        }
        if (optional) {
            builder.optional();
        }
        Schema schema = builder.build();
        ValueConverter converter = converters.converter(column, new Field("c", 0, schema));
        Object converted = converter.convert(given(parts[9], parts[10], parts[4]));
        return "{\"schema\":" + JSON.asJsonSchema(schema) + ",\"value\":" + json(schema, converted) + "}";
    }

    /** A value as the driver's result set gives it. */
    private static Object given(String word, String text, String scale) throws Exception {
        switch (word) {
            case "null":
                return null;
            case "unavailable":
                return Class.forName(PACKAGE + "SqlServerValueConverters").getField("UNAVAILABLE_VALUE").get(null);
            case "short":
                return Short.valueOf(text);
            case "int":
                return Integer.valueOf(text);
            case "long":
                return Long.valueOf(text);
            case "boolean":
                return Boolean.valueOf(text);
            case "float":
                return Float.valueOf(text);
            case "double":
                return Double.valueOf(text);
            case "decimal":
                return new BigDecimal(text);
            case "string":
                return unescaped(text);
            case "bytes":
                return HexFormat.of().parseHex(text);
            default:
                String[] numbers = text.split(",");
                return temporal(word, Integer.parseInt(numbers[0]), Long.parseLong(numbers[1]), Integer.parseInt(numbers[2]));
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

    /** What the driver makes of days, ticks and a scale or an offset in minutes, as its TDS reader hands them over. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object temporal(String word, int days, long ticks, int last) throws Exception {
        Class<Enum> jdbcTypes = (Class<Enum>) Class.forName("com.microsoft.sqlserver.jdbc.JDBCType");
        Class<Enum> sqlTypes = (Class<Enum>) Class.forName("com.microsoft.sqlserver.jdbc.SSType");
        Class<?> reader = Class.forName("com.microsoft.sqlserver.jdbc.DDC");
        Method method = null;
        for (Method candidate : reader.getDeclaredMethods()) {
            if (candidate.getName().equals("convertTemporalToObject") && candidate.getParameterCount() == 6) {
                method = candidate;
            }
        }
        method.setAccessible(true);
        boolean isOffset = word.equals("DATETIMEOFFSET");
        String jdbc = isOffset ? "DATETIMEOFFSET" : word.equals("DATE") ? "DATE" : word.equals("STREAMED_TIME") ? "TIME" : "TIMESTAMP";
        Calendar calendar = isOffset ? Calendar.getInstance(new java.util.SimpleTimeZone(last * 60_000, "")) : Calendar.getInstance();
        String sql = word.equals("STREAMED_TIME") ? "TIME" : word;
        try {
            return method.invoke(null, Enum.valueOf(jdbcTypes, jdbc), Enum.valueOf(sqlTypes, sql), calendar, days, ticks, isOffset ? 7 : last);
        } catch (InvocationTargetException error) {
            throw (Exception) error.getCause();
        }
    }

    @SuppressWarnings("unchecked")
    private static String defaultOf(String[] parts) throws Exception {
        Column column = column("c", parts[1], parts[2], parts[3], parts[4], true, 1);
        ValueConverterProvider converters = converters(parts[5], parts[6], parts[7]);
        Class<?> converter = Class.forName(PACKAGE + "SqlServerDefaultValueConverter");
        Constructor<?> constructor = converter.getDeclaredConstructors()[0];
        constructor.setAccessible(true);
        Object defaults = constructor.newInstance(null, converters);
        Method parse = converter.getMethod("parseDefaultValue", Column.class, String.class);
        parse.setAccessible(true);
        SchemaBuilder builder = converters.schemaBuilder(column).optional();
        ((Optional<Object>) parse.invoke(defaults, column, unescaped(parts[8]))).ifPresent(builder::defaultValue);
        return "{\"schema\":" + JSON.asJsonSchema(builder.build()) + "}";
    }

    private static String source(String[] parts) throws Exception {
        Configuration configuration = Configuration.create()
                .with("topic.prefix", "cdc").with("database.names", parts[5]).with("database.hostname", "localhost").build();
        Class<?> configClass = Class.forName(PACKAGE + "SqlServerConnectorConfig");
        Object config = configClass.getConstructor(Configuration.class).newInstance(configuration);
        Class<?> infoClass = Class.forName(PACKAGE + "SourceInfo");
        Constructor<?> constructor = infoClass.getDeclaredConstructor(configClass);
        constructor.setAccessible(true);
        Object info = constructor.newInstance(config);
        Class<?> lsn = Class.forName(PACKAGE + "Lsn");
        Method valueOf = lsn.getMethod("valueOf", String.class);
        infoClass.getMethod("setCommitLsn", lsn).invoke(info, valueOf.invoke(null, parts[2].equals("-") ? null : parts[2]));
        infoClass.getMethod("setChangeLsn", lsn).invoke(info, valueOf.invoke(null, parts[3].equals("-") ? null : parts[3]));
        if (!parts[4].equals("-")) {
            infoClass.getMethod("setEventSerialNo", Long.class).invoke(info, Long.valueOf(parts[4]));
        }
        infoClass.getMethod("setTableId", TableId.class).invoke(info, new TableId(parts[5], parts[6], parts[7]));
        infoClass.getMethod("setSourceTime", Instant.class).invoke(info, Instant.ofEpochMilli(Long.parseLong(parts[8])));
        setSnapshot(info, parts[1]);
        Object maker = Class.forName(PACKAGE + "SqlServerSourceInfoStructMaker").getConstructor().newInstance();
        for (Method method : maker.getClass().getMethods()) {
            if (method.getName().equals("init")) {
                method.invoke(maker, "sqlserver", (String) Class.forName(PACKAGE + "Module").getMethod("version").invoke(null), config);
            }
        }
        Struct struct = (Struct) maker.getClass().getMethod("struct", infoClass).invoke(maker, info);
        return "{\"schema\":" + JSON.asJsonSchema(struct.schema()) + ",\"value\":" + json(struct.schema(), struct) + "}";
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static void setSnapshot(Object info, String name) throws Exception {
        Class<Enum> records = (Class<Enum>) Class.forName("io.debezium.connector.SnapshotRecord");
        for (Class<?> type = info.getClass(); type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals("setSnapshot")) {
                    method.setAccessible(true);
                    method.invoke(info, Enum.valueOf(records, name));
                    return;
                }
            }
        }
    }

    private static String table(String[] parts) throws Exception {
        TableEditor editor = Table.editor().tableId(new TableId(parts[1], parts[2], parts[3]));
        List<Column> columns = new ArrayList<>();
        for (int i = 5; i < parts.length; i++) {
            String[] facts = parts[i].split(",", 6);
            columns.add(column(facts[5], facts[0], facts[1], facts[2], facts[3], facts[4].equals("true"), i - 4));
        }
        Table table = editor.addColumns(columns).setPrimaryKeyNames(List.of(parts[4].split(","))).create();
        Object changes = Class.forName("io.debezium.relational.history.TableChanges").getConstructor().newInstance();
        changes.getClass().getMethod("alter", Table.class).invoke(changes, table);
        Class<?> serializerClass = Class.forName("io.debezium.relational.history.ConnectTableChangeSerializer");
        Object serializer = null;
        for (Constructor<?> constructor : serializerClass.getConstructors()) {
            Object[] values = new Object[constructor.getParameterCount()];
            for (int i = 0; i < values.length; i++) {
                values[i] = Class.forName("io.debezium.schema.SchemaNameAdjuster").getField("NO_OP").get(null);
            }
            serializer = constructor.newInstance(values);
        }
        List<?> structs = (List<?>) serializerClass.getMethod("serialize", changes.getClass()).invoke(serializer, changes);
        Struct struct = (Struct) structs.get(0);
        return "{\"schema\":" + JSON.asJsonSchema(struct.schema()) + ",\"value\":" + json(struct.schema(), struct) + "}";
    }

    private static String json(Schema schema, Object value) {
        return new String(JSON.fromConnectData("t", schema, value), StandardCharsets.UTF_8);
    }
}
