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
import scoreboard.Reader;

/** Doris' JsonDebeziumSchemaSerializer: the lines that it makes of a message for Stream Load, read as JSON. */
public final class DorisReader implements Reader.Factory {
    private static final ObjectMapper JSON = new ObjectMapper();

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
        return message -> rows(serializer, table, message);
    }

    private static List<Reader.Row> rows(JsonDebeziumSchemaSerializer serializer, Reader.Table table, Reader.Message message)
            throws Exception {
        List<Reader.Row> rows = new ArrayList<>();
        if (message.value() == null) {
            return rows; // The source in front of it hands on no tombstone.
        }
        DorisRecord made = serializer.serialize(new String(message.value(), StandardCharsets.UTF_8));
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
            String op = JSON.readTree(message.value()).path("op").asText().equals("u") ? "UPDATE" : "INSERT";
            rows.add(deletes ? new Reader.Row("DELETE", image, null) : new Reader.Row(op, null, image));
        }
        return rows;
    }

    private static Object cell(JsonNode value) {
        return value.isNull() ? null : value.isValueNode() ? value.asText() : value.toString();
    }
}
