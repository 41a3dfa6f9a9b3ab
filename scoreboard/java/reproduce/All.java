import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Runs the programs of the named classes in one JVM, and prints each name with what it printed, in base64. */
public final class All {
    public static void main(String[] names) throws Exception {
        PrintStream out = System.out;
        for (String name : names) {
            ByteArrayOutputStream printed = new ByteArrayOutputStream();
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            try {
                Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
            } catch (java.lang.reflect.InvocationTargetException error) {
                System.out.println(error.getCause());
            }
            out.println(name + " " + Base64.getEncoder().encodeToString(printed.toByteArray()));
        }
        System.exit(0);
    }
}
