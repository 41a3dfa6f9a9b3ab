import io.apicurio.registry.utils.converter.avro.AvroData;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.json.JsonConverter;

/**
 * Makes Avro of keys or values in Kafka Connect's JSON with the classes of Confluent's AvroConverter, as Apicurio ships them.
 *
 * Arguments: a file with the base64 of a key or value with its schema a line, and a file for the results, two lines for each: the
 * text of its Avro schema in base64, and its datum without framing in base64.
 */
public class ConnectAvro {
    public static void main(String[] arguments) throws Exception {
        JsonConverter json = new JsonConverter();
        json.configure(Map.of("schemas.enable", "true"), false);
        AvroData avro = new AvroData(1000);
        List<String> results = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            SchemaAndValue given = json.toConnectData("topic", Base64.getDecoder().decode(line));
            Schema schema = avro.fromConnectSchema(given.schema());
            ByteArrayOutputStream datum = new ByteArrayOutputStream();
            BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(datum, null);
            new GenericDatumWriter<Object>(schema).write(avro.fromConnectData(given.schema(), given.value()), encoder);
            encoder.flush();
            results.add(encoded(schema.toString().getBytes(StandardCharsets.UTF_8)));
            results.add(encoded(datum.toByteArray()));
        }
        Files.write(Path.of(arguments[1]), results);
    }

    private static String encoded(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }
}
