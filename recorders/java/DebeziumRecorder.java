import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.Header;
import io.debezium.engine.format.Json;
import io.debezium.engine.format.KeyValueHeaderChangeEventFormat;
import java.io.FileInputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Runs a Debezium connector in the embedded engine and writes each record as a line of JSON.
 *
 * Argument: a properties file with the engine's properties and recorder.output (the file of records), recorder.sentinel (a text in
 * the topic of the last record) and recorder.seconds (the time limit). Exit codes: 0 the last record came, 3 the engine ended
 * before, 4 the time is over.
 */
public class DebeziumRecorder {
    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        try (FileInputStream file = new FileInputStream(arguments[0])) {
            properties.load(file);
        }
        String sentinel = (String) properties.remove("recorder.sentinel");
        long seconds = Long.parseLong((String) properties.remove("recorder.seconds"));
        PrintStream output = new PrintStream((String) properties.remove("recorder.output"), StandardCharsets.UTF_8);
        CountDownLatch ended = new CountDownLatch(1);
        int[] code = {4};
        DebeziumEngine<ChangeEvent<String, String>> engine =
                DebeziumEngine.create(KeyValueHeaderChangeEventFormat.of(Json.class, Json.class, Json.class))
                        .using(properties)
                        .notifying(event -> {
                            synchronized (output) {
                                output.println(line(event));
                                output.flush();
                            }
                            if (event.destination().contains(sentinel)) {
                                code[0] = 0;
                                ended.countDown();
                            }
                        })
                        .using((success, message, error) -> {
                            if (code[0] != 0) {
                                code[0] = 3;
                                System.err.println("the engine ended: " + message);
                                if (error != null) {
                                    error.printStackTrace();
                                }
                            }
                            ended.countDown();
                        })
                        .build();
        Thread runner = new Thread(engine, "engine");
        runner.setDaemon(true);
        runner.start();
        ended.await(seconds, TimeUnit.SECONDS);
        output.close();
        Runtime.getRuntime().halt(code[0]);
    }

    private static String line(ChangeEvent<String, String> event) {
        StringBuilder headers = new StringBuilder();
        for (Header<?> header : event.headers()) {
            headers.append(headers.length() == 0 ? "" : ",");
            headers.append("[").append(coded(header.getKey())).append(",").append(coded(header.getValue())).append("]");
        }
        return "{\"topic\":" + coded(event.destination()) + ",\"partition\":" + event.partition() + ",\"key\":" + coded(event.key())
                + ",\"value\":" + coded(event.value()) + ",\"headers\":[" + headers + "]}";
    }

    private static String coded(Object text) {
        if (text == null) {
            return "null";
        }
        byte[] bytes = text instanceof byte[] ? (byte[]) text : text.toString().getBytes(StandardCharsets.UTF_8);
        return "\"" + Base64.getEncoder().encodeToString(bytes) + "\"";
    }
}
