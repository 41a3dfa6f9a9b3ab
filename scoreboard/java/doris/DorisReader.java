package doris;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.doris.flink.cfg.DorisExecutionOptions;
import org.apache.doris.flink.cfg.DorisOptions;
import org.apache.doris.flink.sink.writer.serializer.DorisRecord;
import org.apache.doris.flink.sink.writer.serializer.JsonDebeziumSchemaSerializer;
import org.apache.doris.flink.tools.cdc.converter.TableNameConverter;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.cdc.debezium.JsonDebeziumDeserializationSchema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import scoreboard.Reader;

/**
 * Doris' JsonDebeziumSchemaSerializer: the lines that it makes of a message for Stream Load, read as JSON. With the option
 * schemas.enable the messages are those that DatabaseSync hands to it, made of the records behind Kafka's messages.
 */
public final class DorisReader implements Reader.Factory {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** The text of a message, as the serializer gets it; null of a tombstone. */
    private interface Texts {
        String read(Reader.Message message) throws Exception;
    }

    @Override
    public Reader open(String format, Reader.Table table, String timeZone, Map<String, String> options) {
        String outer = table.schema() == null ? table.database() : table.database() + "." + table.schema();
        Map<String, String> mapping = new LinkedHashMap<>(Map.of(outer + "." + table.name(), "d.t"));
        JsonDebeziumSchemaSerializer serializer = JsonDebeziumSchemaSerializer.builder()
                .setDorisOptions(DorisOptions.builder().setFenodes("localhost:1").setTableIdentifier("").build())
                .setExecutionOptions(DorisExecutionOptions.builder().build())
                .setTableMapping(mapping)
                .setTargetDatabase("d")
                .setTableNameConverter(new TableNameConverter("", ""))
                .build();
        Texts texts = options.containsKey("schemas.enable")
                ? textsOfDatabaseSync(options)
                : message -> message.value() == null ? null : new String(message.value(), StandardCharsets.UTF_8);
        return message -> {
            String text = texts.read(message);
            return text == null ? List.of() : rows(serializer, table, text); // Sources hand on no tombstone.
        };
    }

    /** Messages as DatabaseSync makes them of a source's records, which Kafka Connect's JsonConverter reads here. */
    private static Texts textsOfDatabaseSync(Map<String, String> options) {
        JsonConverter messages = new JsonConverter();
        messages.configure(options, false);
        var schema = new JsonDebeziumDeserializationSchema(false, Map.of("decimal.format", "numeric"));
        return message -> {
            SchemaAndValue value = messages.toConnectData(message.topic(), message.value());
            if (value.value() == null) {
                return null;
            }
            List<String> texts = new ArrayList<>();
            schema.deserialize(
                    new SourceRecord(Map.of(), Map.of(), message.topic(), value.schema(), value.value()),
                    new ListCollector<>(texts));
            return texts.get(0);
        };
    }

    private static List<Reader.Row> rows(JsonDebeziumSchemaSerializer serializer, Reader.Table table, String message)
            throws Exception {
        List<Reader.Row> rows = new ArrayList<>();
        DorisRecord made = serializer.serialize(message);
        String text = made == null ? "" : new String(made.getRow(), StandardCharsets.UTF_8);
        for (String line : text.isEmpty() ? new String[0] : text.split("\n")) {
            JsonNode row = JSON.readTree(line);
            Map<String, Object> image = new LinkedHashMap<>();
            for (Reader.Column column : table.columns()) {
                if (row.has(column.name())) {
                    image.put(column.name(), cell(row.get(column.name())));
                }
            }
            boolean deletes = row.path("__DORIS_DELETE_SIGN__").asText().equals("1");
            String op = JSON.readTree(message).path("op").asText().equals("u") ? "UPDATE" : "INSERT";
            rows.add(deletes ? new Reader.Row("DELETE", image, null) : new Reader.Row(op, null, image));
        }
        return rows;
    }

    private static Object cell(JsonNode value) {
        return value.isNull() ? null : value.isValueNode() ? value.asText() : value.toString();
    }
}
