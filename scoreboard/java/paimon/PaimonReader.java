package paimon;

import java.math.BigInteger;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.util.Collector;
import org.apache.flink.kafka.shaded.org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.flink.action.cdc.CdcSourceRecord;
import org.apache.paimon.flink.action.cdc.TypeMapping;
import org.apache.paimon.flink.action.cdc.format.AbstractRecordParser;
import org.apache.paimon.flink.action.cdc.format.canal.CanalRecordParser;
import org.apache.paimon.flink.action.cdc.format.debezium.DebeziumJsonRecordParser;
import org.apache.paimon.flink.action.cdc.kafka.KafkaDebeziumJsonDeserializationSchema;
import org.apache.paimon.flink.sink.cdc.CdcRecord;
import org.apache.paimon.flink.sink.cdc.CdcRecordUtils;
import org.apache.paimon.flink.sink.cdc.RichCdcMultiplexRecord;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataTypeRoot;
import org.apache.paimon.types.RowKind;
import org.apache.paimon.utils.TypeUtils;
import scoreboard.Reader;

/**
 * Paimon's parsers of canal-json and debezium-json, and the cast of their texts to the types of the table, which are those that the
 * message itself gives: the action creates the table of them.
 */
public final class PaimonReader implements Reader {
    private final Table table;
    private final boolean debezium;
    private final ZoneId zone;
    private final KafkaDebeziumJsonDeserializationSchema json = new KafkaDebeziumJsonDeserializationSchema();
    private final AbstractRecordParser parser;

    private PaimonReader(String format, Table table, String timeZone) {
        this.table = table;
        debezium = format.equals("debezium-json");
        zone = ZoneId.of(debezium ? "UTC" : timeZone); // The parser turns Debezium's instants into UTC's clock.
        TypeMapping mapping = TypeMapping.parse(new String[] {"tinyint1-not-bool"});
        parser = debezium ? new DebeziumJsonRecordParser(mapping, List.of()) : new CanalRecordParser(mapping, List.of());
    }

    /** Opens a reader. */
    public static final class Factory implements Reader.Factory {
        static {
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off"); // Each refused row is logged with a trace.
        }

        @Override
        public Reader open(String format, Table table, String timeZone, Map<String, String> options) {
            return new PaimonReader(format, table, timeZone);
        }
    }

    @Override
    public List<Row> read(Message message) throws Exception {
        Rows rows = new Rows();
        CdcSourceRecord record = !debezium || topicOf(message)
                ? json.deserialize(new ConsumerRecord<>(message.topic(), 0, 0, message.key(), message.value()))
                : null;
        if (record != null) {
            parser.flatMap(record, rows);
        }
        return rows.read;
    }

    /** Debezium gives each table a topic of its own, `prefix.database.table`, and the user names the topic to read. */
    private boolean topicOf(Message message) {
        String outer = table.schema() == null ? table.database() : table.schema();
        return message.topic().endsWith(("." + outer + "." + table.name()).replaceAll("[^A-Za-z0-9._-]", "_"));
    }

    /** Collects the rows; of a topic of several tables by names, as kafka_sync_database does. An UPDATE is a DELETE and an INSERT. */
    private final class Rows implements Collector<RichCdcMultiplexRecord> {
        private final List<Row> read = new ArrayList<>();

        @Override
        public void collect(RichCdcMultiplexRecord record) {
            if (!debezium && !(table.database().equals(record.databaseName()) && table.name().equals(record.tableName()))) {
                return;
            }
            List<DataField> fields = record.buildSchema().fields();
            CdcRecord cells = record.toRichCdcRecord().toCdcRecord();
            GenericRow row = CdcRecordUtils.toGenericRow(cells, fields, false).orElseThrow(() -> refused(cells, fields));
            Map<String, Object> image = image(row, fields);
            Row last = read.isEmpty() ? null : read.get(read.size() - 1);
            if (row.getRowKind() == RowKind.DELETE) {
                read.add(new Row("DELETE", image, null));
            } else if (last != null && last.op().equals("DELETE")) {
                read.set(read.size() - 1, new Row("UPDATE", last.before(), image));
            } else {
                read.add(new Row("INSERT", null, image));
            }
        }

        @Override
        public void close() {}
    }

    /** What Paimon's cast says of the first cell that it refuses: CdcRecordUtils only logs it, and gives no row. */
    private static RuntimeException refused(CdcRecord record, List<DataField> fields) {
        for (Map.Entry<String, String> cell : record.data().entrySet()) {
            for (DataField field : fields) {
                if (field.name().equals(cell.getKey()) && cell.getValue() != null) {
                    try {
                        TypeUtils.castFromCdcValueString(cell.getValue(), field.type());
                    } catch (RuntimeException error) {
                        String told = String.format("%s '%s' cannot be cast to %s", field.name(), cell.getValue(), field.type());
                        return new IllegalArgumentException(told, error);
                    }
                }
            }
        }
        return new IllegalArgumentException("a cell has no field in " + fields);
    }

    private Map<String, Object> image(GenericRow row, List<DataField> fields) {
        Map<String, Object> cells = new LinkedHashMap<>();
        for (Column column : table.columns()) {
            for (int i = 0; i < fields.size(); i++) {
                if (fields.get(i).name().equals(column.name())) {
                    cells.put(column.name(), cell(fields.get(i), column.logical(), row.getField(i)));
                }
            }
        }
        return cells;
    }

    /** A value of Paimon's own classes; TIME is milliseconds of a day, BIT(n) big-endian bytes, TIMESTAMP a wall clock, BOOL a boolean. */
    private Object cell(DataField field, String logical, Object value) {
        DataTypeRoot root = field.type().getTypeRoot();
        if (value instanceof BinaryString text) {
            return text.toString();
        } else if (value instanceof Decimal decimal) {
            return decimal.toBigDecimal();
        } else if (value instanceof Timestamp time) {
            return logical.equals("timestamp") ? time.toLocalDateTime().atZone(zone).toInstant() : time.toLocalDateTime();
        } else if (value instanceof Integer days && root == DataTypeRoot.DATE) {
            return LocalDate.ofEpochDay(days);
        } else if (value instanceof Integer ms && root == DataTypeRoot.TIME_WITHOUT_TIME_ZONE) {
            return String.format("%02d:%02d:%02d.%03d", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
        } else if (value instanceof byte[] bytes && logical.equals("bit")) {
            return new BigInteger(1, bytes);
        } else if (value instanceof Boolean bool && logical.equals("int")) {
            return bool ? 1 : 0;
        } else if (value instanceof InternalArray array) {
            List<String> labels = new ArrayList<>();
            for (int i = 0; i < array.size(); i++) {
                labels.add(array.getString(i).toString());
            }
            return labels;
        }
        return value;
    }
}
