import java.lang.reflect.Constructor;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import io.debezium.relational.Column;
import io.debezium.relational.TableId;
import io.debezium.relational.Tables;
import io.debezium.relational.ValueConverter;
import io.debezium.relational.ValueConverterProvider;
import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.json.JsonConverter;

/**
 * Reads definitions of columns with the DDL parser of Debezium's MySQL or MariaDB connector, and writes what its value converters make of
 * them, with the connector's default options. The classes have other names and constructors by release, and are found at run time.
 *
 * Arguments: a file of definitions, one a line: `INTEGER UNSIGNED`, a tab, and a word for the value of the binlog (integer, long,
 * float, double, bytes, none); a file for the results, a line of JSON each: `schema`, Connect's JSON schema with the default,
 * `value`, what the converter makes of the value (all bits set, 0.1, or five bytes), or `unfit`, if that is no value of the schema,
 * and `empty`, what it makes of no bytes; or `refused`, the error of the parser, or `refused_default`, that of the default; and the connector, MySql or MariaDb.
 */
public class DebeziumColumns {
    private static String connector;
    private static String product;
    private static final byte[] FIVE = {0x61, (byte) 0xff, 0, (byte) 0xc3, (byte) 0xa9};
    private static final JsonConverter JSON = new JsonConverter();

    private static ValueConverterProvider converters;
    private static Object charsets;
    private static Object defaults;

    public static void main(String[] arguments) throws Exception {
        JSON.configure(Map.of("schemas.enable", "false", "converter.type", "value"));
        connector = "io.debezium.connector." + arguments[2].toLowerCase() + ".";
        product = arguments[2];
        start();
        List<String> results = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String[] parts = line.split("\t");
            String result;
            try {
                result = read(parts[0], parts[1]);
            } catch (Throwable error) {
                result = "{\"refused\":\"" + nameOf(error) + "\"}";
            }
            results.add(result);
        }
        Files.write(Path.of(arguments[1]), results);
    }

    private static String nameOf(Throwable error) {
        return (error.getCause() == null ? error : error.getCause()).getClass().getSimpleName();
    }

    /** Makes the converters, with the connector's default options. */
    private static void start() throws Exception {
        Class<?> converterClass = either("ValueConverters");
        try {
            charsets = Class.forName(connector + "charset." + product + "CharsetRegistry").getConstructor().newInstance();
        } catch (ClassNotFoundException older) {
            charsets = null;
        }
        for (Constructor<?> constructor : converterClass.getConstructors()) {
            Class<?>[] types = constructor.getParameterTypes();
            if (types.length != 4 && (charsets == null || types.length < 7)) {
                continue;
            }
            Object[] values = new Object[types.length];
            for (int i = 0; i < types.length; i++) {
                values[i] = option(types[i]);
            }
            converters = (ValueConverterProvider) constructor.newInstance(values);
        }
        Class<?> defaultClass = either("DefaultValueConverter");
        defaults = defaultClass.getConstructor(converterClass).newInstance(converters);
    }

    private static Class<?> either(String name) throws ClassNotFoundException {
        try {
            return Class.forName(connector + "jdbc." + product + name);
        } catch (ClassNotFoundException older) {
            return Class.forName(connector + product + name);
        }
    }

    /** An argument of the converters' constructor: the connector's default option of that type. */
    private static Object option(Class<?> type) {
        if (type.isEnum()) {
            List<String> wanted = List.of("PRECISE", "ADAPTIVE_TIME_MICROSECONDS", "LONG", "BYTES", "WARN");
            for (Object constant : type.getEnumConstants()) {
                boolean isPrecise = type.getSimpleName().equals("BigIntUnsignedMode") && constant.toString().equals("PRECISE");
                if (wanted.contains(constant.toString()) && !isPrecise) {
                    return constant;
                }
            }
        }
        if (type.getSimpleName().equals("TemporalAdjuster")) {
            return (java.time.temporal.TemporalAdjuster) temporal -> temporal;
        }
        if (type.getSimpleName().equals("ServiceRegistry")) {
            return Proxy.newProxyInstance(
                    DebeziumColumns.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> charsets);
        }
        throw new IllegalStateException("no option of the type " + type);
    }

    private static String read(String definition, String word) throws Exception {
        Column column = parse(definition);
        SchemaBuilder builder = converters.schemaBuilder(column);
        if (column.isOptional()) {
            builder.optional();
        }
        StringBuilder result = new StringBuilder("{");
        try {
            defaultOf(column).ifPresent(builder::defaultValue);
        } catch (Exception error) {
            result.append("\"refused_default\":\"" + nameOf(error) + "\",");
        }
        Schema schema = builder.build();
        result.append("\"schema\":").append(JSON.asJsonSchema(schema));
        Object value = value(word);
        if (value != null) {
            ValueConverter converter = converters.converter(column, new Field("c", 0, schema));
            Object converted = converter.convert(value);
            result.append(fits(schema, converted) ? ",\"value\":" + json(schema, converted) : ",\"unfit\":true");
            if (value instanceof byte[]) {
                result.append(",\"empty\":").append(json(schema, converter.convert(new byte[0])));
            }
        }
        return result.append('}').toString();
    }

    /** False for a value that the schema refuses: the connector logs that and leaves the column out of the row. */
    private static boolean fits(Schema schema, Object value) {
        try {
            ConnectSchema.validateValue(schema, value);
            return true;
        } catch (DataException error) {
            return false;
        }
    }

    private static String json(Schema schema, Object value) {
        return new String(JSON.fromConnectData("t", schema, value), StandardCharsets.UTF_8);
    }

    private static Column parse(String definition) throws Exception {
        Class<?> parserClass = Class.forName(connector + "antlr." + product + "AntlrDdlParser");
        Object parser = null;
        for (Constructor<?> constructor : parserClass.getConstructors()) {
            Class<?>[] types = constructor.getParameterTypes();
            if (types.length == 5 && types[4].isInstance(charsets)) {
                parser = constructor.newInstance(true, false, false, Tables.TableFilter.includeAll(), charsets);
            } else if (types.length == 2 && types[0].isInstance(converters)) {
                parser = constructor.newInstance(converters, Tables.TableFilter.includeAll());
            }
        }
        parserClass.getMethod("setCurrentSchema", String.class).invoke(parser, "shop");
        parserClass.getMethod("setCurrentDatabase", String.class).invoke(parser, "shop");
        Tables tables = new Tables();
        String statement = "CREATE TABLE t (id INT NOT NULL PRIMARY KEY, c " + definition + ") DEFAULT CHARSET=utf8mb4";
        parserClass.getMethod("parse", String.class, Tables.class).invoke(parser, statement, tables);
        return tables.forTable(new TableId("shop", null, "t")).columnWithName("c");
    }

    /** The converted default: up to 1.6 the parser converts it. */
    @SuppressWarnings("unchecked")
    private static Optional<Object> defaultOf(Column column) throws Exception {
        if (!column.hasDefaultValue()) {
            return Optional.empty();
        }
        try {
            Optional<String> expression =
                    (Optional<String>) Column.class.getMethod("defaultValueExpression").invoke(column);
            return (Optional<Object>) defaults.getClass()
                    .getMethod("parseDefaultValue", Column.class, String.class)
                    .invoke(defaults, column, expression.orElse(null));
        } catch (NoSuchMethodException older) {
            return Optional.ofNullable(Column.class.getMethod("defaultValue").invoke(column));
        }
    }

    private static Object value(String word) {
        switch (word) {
            case "integer":
                return Integer.valueOf(-1);
            case "long":
                return Long.valueOf(-1);
            case "float":
                return Float.valueOf(0.1f);
            case "double":
                return Double.valueOf(0.1);
            case "bytes":
                return FIVE.clone();
            default:
                return null;
        }
    }
}
