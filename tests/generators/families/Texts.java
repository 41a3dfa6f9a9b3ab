import java.nio.charset.StandardCharsets;
import java.util.Scanner;
public class Texts {
    public static void main(String[] arguments) {
        Scanner lines = new Scanner(System.in, StandardCharsets.US_ASCII);
        StringBuilder out = new StringBuilder();
        out.append(System.getProperty("java.specification.version")).append('\n');
        while (lines.hasNextLine()) {
            String[] line = lines.nextLine().split(" ", -1);
            switch (line[0]) {
                case "d": out.append(Double.longBitsToDouble(Long.parseUnsignedLong(line[1], 16))); break;
                case "f": out.append(Float.intBitsToFloat(Integer.parseUnsignedInt(line[1], 16))); break;
                default:
                    StringBuilder text = new StringBuilder();
                    for (int i = 0; i < line[1].length(); i += 4) {
                        text.append((char) Integer.parseInt(line[1].substring(i, i + 4), 16));
                    }
                    out.append(text.toString().hashCode());
            }
            out.append('\n');
        }
        System.out.print(out);
    }
}
