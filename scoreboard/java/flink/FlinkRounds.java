package flink;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;
import scoreboard.Adapter;

/**
 * Decodes the same messages in rounds and measures each: what Flink's format costs alone, without a job around it. Arguments: the
 * format, and a file of messages, each behind its length in four bytes. The first line of standard input is a `begin` line of the
 * harness's protocol; for every further line all messages are decoded once. Both are answered with a line of JSON: the number of
 * messages; the rows, seconds and CPU seconds of the process, which include its compiler and its garbage collector.
 *
 * <p>Rows are counted, and their fields are not touched: when `deserialize` returns, it has converted every one of them.
 */
public final class FlinkRounds {
    private FlinkRounds() {}

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // Standard output is for the answers.
        ObjectMapper json = new ObjectMapper();
        List<byte[]> messages = messages(Path.of(args[1]));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        DeserializationSchema<RowData> schema =
                new FlinkReader().decoding(args[0], Adapter.table(json.readTree(lines.readLine()).get("table"))).schema();
        out.println(json.writeValueAsString(Map.of("messages", messages.size())));
        while (lines.readLine() != null) {
            out.println(json.writeValueAsString(round(schema, messages)));
        }
    }

    private static List<byte[]> messages(Path path) throws Exception {
        List<byte[]> messages = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(path)))) {
            for (long left = Files.size(path); left > 0; ) {
                byte[] message = new byte[in.readInt()];
                in.readFully(message);
                messages.add(message);
                left -= Integer.BYTES + message.length;
            }
        }
        return messages;
    }

    private static Map<String, Number> round(DeserializationSchema<RowData> schema, List<byte[]> messages) throws Exception {
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        Count count = new Count();
        long cpu = system.getProcessCpuTime();
        long began = System.nanoTime();
        for (byte[] message : messages) {
            schema.deserialize(message, count);
        }
        long taken = System.nanoTime() - began;
        long spent = system.getProcessCpuTime() - cpu;
        Map<String, Number> answer = new LinkedHashMap<>();
        answer.put("rows", count.rows);
        answer.put("seconds", taken / 1e9);
        answer.put("cpu_seconds", spent / 1e9);
        return answer;
    }

    /** Counts row changes: an update is two rows to Flink. */
    private static final class Count implements Collector<RowData> {
        private long rows;

        @Override
        public void collect(RowData row) {
            if (row.getRowKind() != RowKind.UPDATE_BEFORE) {
                rows++;
            }
        }

        @Override
        public void close() {}
    }
}
