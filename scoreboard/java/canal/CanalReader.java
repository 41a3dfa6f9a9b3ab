package canal;

import com.alibaba.fastjson2.JSON;
import com.alibaba.otter.canal.protocol.FlatMessage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import scoreboard.Reader;

/** Canal's own client on a Kafka topic of flat messages: the rows of a FlatMessage, whose values are texts. */
public final class CanalReader implements Reader.Factory {
    @Override
    public Reader open(String format, Reader.Table table, String timeZone, Map<String, String> options) {
        return message -> rows(table, message);
    }

    private static List<Reader.Row> rows(Reader.Table table, Reader.Message message) {
        List<Reader.Row> rows = new ArrayList<>();
        FlatMessage flat = JSON.parseObject(new String(message.value(), StandardCharsets.UTF_8), FlatMessage.class);
        if (flat.getData() == null || !table.database().equals(flat.getDatabase()) || !table.name().equals(flat.getTable())) {
            return rows;
        }
        for (Map<String, String> data : flat.getData()) {
            Map<String, Object> image = new LinkedHashMap<>();
            table.columns().stream().filter(column -> data.containsKey(column.name()))
                    .forEach(column -> image.put(column.name(), data.get(column.name())));
            boolean deletes = flat.getType().equals("DELETE");
            rows.add(new Reader.Row(flat.getType(), deletes ? image : null, deletes ? null : image));
        }
        return rows;
    }
}
