import io.debezium.relational.Column;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Reads defaults of columns as PostgreSQL's catalogue prints them with the mappers of Debezium's PostgreSQL connector, which are
 * private and want a connection: they are made without one, of a registry of types that is empty.
 *
 * Arguments: a file of defaults, one a line: `int4`, a tab, and `(1 + 2)`; and a file for the results: on the first line the types
 * that have a mapper, on each other what the mapper makes of a default, `none` where the type has no mapper, or where it raises.
 */
public class DebeziumDefaults {
    private static final String CONVERTER = "io.debezium.connector.postgresql.connection.PostgresDefaultValueConverter";
    private static final String MAPPER = "io.debezium.relational.DefaultValueConverter$DefaultValueMapper";

    public static void main(String[] arguments) throws Exception {
        Map<?, ?> mappers = mappers();
        List<String> results = new ArrayList<>();
        results.add(String.join(" ", new TreeSet<>(mappers.keySet().stream().map(Object::toString).toList())));
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String[] parts = line.split("\t");
            Object mapper = mappers.get(parts[0]);
            results.add(mapper == null ? "none" : parsed(mapper, parts[0], parts[1].replace("\\n", "\n")));
        }
        Files.write(Path.of(arguments[1]), results);
    }

    private static Map<?, ?> mappers() throws Exception {
        for (Method method : Class.forName(CONVERTER).getDeclaredMethods()) {
            if (method.getName().equals("createDefaultValueMappers")) {
                method.setAccessible(true);
                Object[] values = new Object[method.getParameterCount()];
                for (int i = 0; i < values.length; i++) {
                    values[i] = blank(method.getParameterTypes()[i]);
                }
                return (Map<?, ?>) method.invoke(null, values);
            }
        }
        throw new IllegalStateException("no mappers of default values in " + CONVERTER);
    }

    /** An object of a class: the driver's reader of times, or, without a call of its constructor, one with empty maps. */
    private static Object blank(Class<?> type) throws Exception {
        if (type.getSimpleName().equals("TimestampUtils")) {
            Constructor<?> constructor = type.getDeclaredConstructors()[0];
            constructor.setAccessible(true);
            Object[] values = new Object[constructor.getParameterCount()];
            for (int i = 0; i < values.length; i++) {
                values[i] = constructor.getParameterTypes()[i] == boolean.class ? (Object) false : null;
            }
            return constructor.newInstance(values);
        }
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        sun.misc.Unsafe unsafe = (sun.misc.Unsafe) field.get(null);
        Object object = unsafe.allocateInstance(type);
        for (Field member : type.getDeclaredFields()) {
            if (!Modifier.isStatic(member.getModifiers()) && Map.class.isAssignableFrom(member.getType())) {
                unsafe.putObject(object, unsafe.objectFieldOffset(member), new HashMap<>());
            }
        }
        return object;
    }

    private static String parsed(Object mapper, String type, String expression) throws Exception {
        Method parse = Class.forName(MAPPER).getMethods()[0];
        for (Method method : Class.forName(MAPPER).getMethods()) {
            parse = method.getName().equals("parse") ? method : parse;
        }
        parse.setAccessible(true);
        Column column = Column.editor().name("c").type(type).jdbcType(java.sql.Types.OTHER).length(1).scale(2).create();
        try {
            Object value = parse.getParameterCount() == 2
                    ? parse.invoke(mapper, column, expression)
                    : parse.invoke(mapper, expression);
            return value == null ? "none" : value.toString();
        } catch (InvocationTargetException error) {
            return "none";
        }
    }
}
