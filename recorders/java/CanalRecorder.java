import com.alibaba.otter.canal.instance.manager.CanalInstanceWithManager;
import com.alibaba.otter.canal.instance.manager.model.Canal;
import com.alibaba.otter.canal.instance.manager.model.CanalParameter;
import com.alibaba.otter.canal.parse.inbound.mysql.MysqlEventParser;
import com.alibaba.otter.canal.parse.inbound.mysql.tsdb.MemoryTableMeta;
import com.alibaba.otter.canal.parse.inbound.mysql.tsdb.TableMetaTSDB;
import com.alibaba.otter.canal.parse.inbound.mysql.tsdb.TableMetaTSDBFactory;
import com.alibaba.otter.canal.protocol.ClientIdentity;
import com.alibaba.otter.canal.protocol.Message;
import com.alibaba.otter.canal.protocol.position.EntryPosition;
import com.alibaba.otter.canal.server.embedded.CanalServerWithEmbedded;
import java.io.FileInputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Runs Canal's server in this process from the start of the binlog and writes each record of its Kafka producer as a line of JSON.
 *
 * The producer is Canal's own (up to 1.1.4 its classes have other names); only the client inside it is Kafka's MockProducer. Every
 * table is created while Canal watches, so the history of table definitions begins empty and is kept in memory. Argument: a
 * properties file with the producer's properties and
 * recorder.output, recorder.sentinel, recorder.seconds (as DebeziumRecorder's; the sentinel is a text in the last record's value),
 * recorder.port, recorder.user, recorder.password, recorder.file (the first binlog file). Exit codes: 0 the last record came, 4 the
 * time is over, 5 nothing came for recorder.stall seconds: Canal reads an event that it cannot parse again and again.
 */
public class CanalRecorder {
    private static final String DESTINATION = "recorder";
    /** The batch of Canal's stock configuration (canal.mq.canalBatchSize, canal.mq.canalGetTimeout). */
    private static final int BATCH = 50;
    private static final long TIMEOUT_MS = 100;

    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        try (FileInputStream file = new FileInputStream(arguments[0])) {
            properties.load(file);
        }
        CanalServerWithEmbedded server = CanalServerWithEmbedded.instance();
        server.setMetricsPort(0);
        server.setCanalInstanceGenerator(destination -> {
            try {
                return instance(properties);
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            }
        });
        server.start();
        server.start(DESTINATION);
        Sender sender = new Sender(properties);
        Runtime.getRuntime().halt(publish(server, sender, properties));
    }

    /** Canal's Kafka producer, through names: those of 1.1.5 and later, or those of 1.1.4. */
    private static final class Sender {
        private final Object producer;
        private final Object destination;
        private final Class<?> callback;
        private final Method send;
        private final MockProducer<String, Object> client = new MockProducer<>(true, new StringSerializer(), new Bytes());

        Sender(Properties properties) throws Exception {
            String home = "com.alibaba.otter.canal.";
            boolean old = present(home + "kafka.CanalKafkaProducer");
            String core = home + "connector.core.";
            Class<?> made = Class.forName(home + (old ? "" : "connector.") + "kafka." + (old ? "" : "producer.") + "CanalKafkaProducer");
            Class<?> place = Class.forName(old ? home + "common.MQProperties$CanalDestination" : core + "producer.MQDestination");
            callback = Class.forName(old ? home + "spi.CanalMQProducer$Callback" : core + "util.Callback");
            producer = made.getConstructor().newInstance();
            if (old) {
                Class<?> settings = Class.forName(home + "common.MQProperties");
                Object given = settings.getConstructor().newInstance();
                settings.getMethod("setServers", String.class).invoke(given, properties.getProperty("canal.mq.servers"));
                settings.getMethod("setFlatMessage", boolean.class).invoke(given, true);
                made.getMethod("init", settings).invoke(producer, given);
            } else {
                made.getMethod("init", Properties.class).invoke(producer, properties);
            }
            Field field = made.getDeclaredField(old ? "producer2" : "producer");
            field.setAccessible(true);
            ((Producer<?, ?>) field.get(producer)).close();
            field.set(producer, client);
            destination = place.getConstructor().newInstance();
            set("setCanalDestination", String.class, DESTINATION);
            set("setTopic", String.class, properties.getProperty("recorder.topic"));
            if (properties.getProperty("recorder.dynamicTopic") != null) {
                set("setDynamicTopic", String.class, properties.getProperty("recorder.dynamicTopic"));
            }
            if (properties.getProperty("recorder.partitionHash") == null) {
                set("setPartition", Integer.class, 0);
            } else {
                set("setPartitionsNum", Integer.class, Integer.valueOf(properties.getProperty("recorder.partitions")));
                set("setPartitionHash", String.class, properties.getProperty("recorder.partitionHash"));
            }
            send = made.getMethod("send", place, Message.class, callback);
        }

        private static boolean present(String name) {
            try {
                Class.forName(name);
                return true;
            } catch (ClassNotFoundException absent) {
                return false;
            }
        }

        private void set(String name, Class<?> type, Object value) throws Exception {
            destination.getClass().getMethod(name, type).invoke(destination, value);
        }

        /** The records of a batch; `commit` or `rollback` runs as the producer asks. */
        List<ProducerRecord<String, Object>> send(Message message, Runnable commit, Runnable rollback) throws Exception {
            Object asked = Proxy.newProxyInstance(callback.getClassLoader(), new Class<?>[] {callback}, (self, method, given) -> {
                (method.getName().equals("commit") ? commit : rollback).run();
                return null;
            });
            send.invoke(producer, destination, message, asked);
            List<ProducerRecord<String, Object>> records = client.history();
            client.clear();
            return records;
        }
    }

    /** A value as it goes over the wire: 1.1.4 produces texts, later releases bytes. */
    private static final class Bytes implements Serializer<Object> {
        @Override
        public void configure(Map<String, ?> configuration, boolean isKey) {
        }

        @Override
        public byte[] serialize(String topic, Object value) {
            return value instanceof String ? bytes((String) value) : (byte[]) value;
        }

        @Override
        public void close() {
        }
    }

    private static int publish(CanalServerWithEmbedded server, Sender sender, Properties properties) throws Exception {
        ClientIdentity identity = new ClientIdentity(DESTINATION, (short) 1001, "");
        server.subscribe(identity);
        Bytes wire = new Bytes();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(properties.getProperty("recorder.seconds")));
        try (PrintStream output = new PrintStream(properties.getProperty("recorder.output"), StandardCharsets.UTF_8)) {
            long stall = TimeUnit.SECONDS.toNanos(Long.parseLong(properties.getProperty("recorder.stall")));
            long progress = System.nanoTime();
            while (System.nanoTime() < end) {
                Message message = server.getWithoutAck(identity, BATCH, TIMEOUT_MS, TimeUnit.MILLISECONDS);
                long number = message.getId();
                if (number == -1 || (message.isRaw() ? message.getRawEntries() : message.getEntries()).isEmpty()) {
                    if (System.nanoTime() - progress > stall) {
                        return 5;
                    }
                    continue;
                }
                progress = System.nanoTime();
                boolean last = false;
                Runnable rollback = () -> server.rollback(identity, number);
                for (ProducerRecord<String, Object> record : sender.send(message, () -> server.ack(identity, number), rollback)) {
                    byte[] value = wire.serialize(record.topic(), record.value());
                    output.println(line(record, value));
                    last |= new String(value, StandardCharsets.UTF_8).contains(properties.getProperty("recorder.sentinel"));
                }
                output.flush();
                if (last) {
                    return 0;
                }
            }
        }
        return 4;
    }

    private static CanalInstanceWithManager instance(Properties properties) throws ReflectiveOperationException {
        CanalParameter parameters = new CanalParameter();
        InetSocketAddress address = new InetSocketAddress("127.0.0.1", Integer.parseInt(properties.getProperty("recorder.port")));
        CanalParameter.DataSourcing source = new CanalParameter.DataSourcing(CanalParameter.SourcingType.MYSQL, address);
        parameters.setGroupDbAddresses(Collections.singletonList(Collections.singletonList(source)));
        parameters.setSourcingType(CanalParameter.SourcingType.MYSQL);
        parameters.setDbUsername(properties.getProperty("recorder.user"));
        parameters.setDbPassword(properties.getProperty("recorder.password"));
        parameters.setSlaveId(1234L);
        parameters.setPositions(Collections.singletonList(
                "{\"journalName\":\"" + properties.getProperty("recorder.file") + "\",\"position\":4,\"timestamp\":1000}"));
        parameters.setMetaMode(CanalParameter.MetaMode.MEMORY);
        parameters.setStorageMode(CanalParameter.StorageMode.MEMORY);
        parameters.setIndexMode(CanalParameter.IndexMode.MEMORY);
        parameters.setDetectingEnable(false);
        parameters.setConnectionCharset(properties.getProperty("recorder.charset"));
        parameters.setParallel(true);
        Canal canal = new Canal();
        canal.setId(1L);
        canal.setName(DESTINATION);
        canal.setCanalParameter(parameters);
        CanalInstanceWithManager instance = new CanalInstanceWithManager(canal, ".*\\..*");
        MysqlEventParser parser = (MysqlEventParser) instance.getEventParser();
        parser.setTableMetaTSDBFactory(new TableMetaTSDBFactory() {
            @Override
            public TableMetaTSDB build(String destination, String springXml) {
                return new MemoryTableMeta() {
                    @Override
                    public boolean rollback(EntryPosition position) {
                        return true;
                    }
                };
            }

            @Override
            public void destory(String destination) {
            }
        });
        for (Method method : MysqlEventParser.class.getMethods()) {
            // 1.1.7 reads them, if only to hand them to the factory; older releases have none.
            if (method.getName().startsWith("setTsdbJdbc")) {
                method.invoke(parser, "");
            }
        }
        parser.setEnableTsdb(Boolean.parseBoolean(properties.getProperty("recorder.tsdb")));
        return instance;
    }

    private static String line(ProducerRecord<String, Object> record, byte[] value) {
        StringBuilder headers = new StringBuilder();
        for (Header header : record.headers()) {
            headers.append(headers.length() == 0 ? "" : ",");
            headers.append("[").append(coded(bytes(header.key()))).append(",").append(coded(header.value())).append("]");
        }
        return "{\"topic\":" + coded(bytes(record.topic())) + ",\"partition\":" + record.partition() + ",\"key\":"
                + coded(bytes(record.key())) + ",\"value\":" + coded(value) + ",\"headers\":[" + headers + "]}";
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    private static String coded(byte[] bytes) {
        return bytes == null ? "null" : "\"" + Base64.getEncoder().encodeToString(bytes) + "\"";
    }
}
