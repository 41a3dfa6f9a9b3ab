import io.debezium.embedded.Connect;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import java.io.FileInputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;

/**
 * Runs a Debezium connector in the embedded engine, converts its records as Kafka Connect does (the converters that key.converter
 * and value.converter name, else JsonConverter; SimpleHeaderConverter for headers) and writes each as a line of JSON. All classes
 * that it uses are there since Debezium 1.3.
 *
 * Argument: a properties file with the engine's properties, key.converter.* and value.converter.*, recorder.output (the file of
 * records), recorder.sentinel (a text in the topic of the last record) and recorder.seconds (the time limit). Exit codes: 0 the
 * last record came, 3 the engine ended before, 4 the time is over.
 */
public class DebeziumRecorder {
    private static Converter key;
    private static Converter value;
    private static final SimpleHeaderConverter HEADER = new SimpleHeaderConverter();

    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        try (FileInputStream file = new FileInputStream(arguments[0])) {
            properties.load(file);
        }
        String sentinel = (String) properties.remove("recorder.sentinel");
        long seconds = Long.parseLong((String) properties.remove("recorder.seconds"));
        PrintStream output = new PrintStream((String) properties.remove("recorder.output"), StandardCharsets.UTF_8);
        key = converter("key", properties);
        value = converter("value", properties);
        CountDownLatch ended = new CountDownLatch(1);
        int[] code = {4};
        DebeziumEngine<ChangeEvent<SourceRecord, SourceRecord>> engine =
                DebeziumEngine.create(Connect.class)
                        .using(properties)
                        .notifying(event -> {
                            SourceRecord record = event.value();
                            synchronized (output) {
                                output.println(line(record));
                                output.flush();
                            }
                            if (record.topic().contains(sentinel)) {
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

    private static Converter converter(String side, Properties properties) throws Exception {
        Map<String, String> found = part(side + ".converter.", properties);
        Object name = properties.getOrDefault(side + ".converter", JsonConverter.class.getName());
        Converter converter = (Converter) Class.forName((String) name).getConstructor().newInstance();
        converter.configure(found, side.equals("key"));
        return converter;
    }

    private static Map<String, String> part(String prefix, Properties properties) {
        Map<String, String> found = new HashMap<>();
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith(prefix)) {
                found.put(name.substring(prefix.length()), (String) properties.remove(name));
            }
        }
        return found;
    }

    private static String line(SourceRecord record) {
        StringBuilder headers = new StringBuilder();
        for (Header header : record.headers()) {
            byte[] value = HEADER.fromConnectHeader(record.topic(), header.key(), header.schema(), header.value());
            headers.append(headers.length() == 0 ? "" : ",");
            headers.append("[").append(coded(bytes(header.key()))).append(",").append(coded(value)).append("]");
        }
        byte[] first = key.fromConnectData(record.topic(), record.keySchema(), record.key());
        byte[] second = value.fromConnectData(record.topic(), record.valueSchema(), record.value());
        return "{\"topic\":" + coded(bytes(record.topic())) + ",\"partition\":" + record.kafkaPartition() + ",\"key\":"
                + coded(first) + ",\"value\":" + coded(second) + ",\"headers\":[" + headers + "]}";
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String coded(byte[] bytes) {
        return bytes == null ? "null" : "\"" + Base64.getEncoder().encodeToString(bytes) + "\"";
    }
}
