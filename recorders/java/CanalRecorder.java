import com.alibaba.otter.canal.connector.core.producer.MQDestination;
import com.alibaba.otter.canal.connector.core.util.Callback;
import com.alibaba.otter.canal.connector.kafka.producer.CanalKafkaProducer;
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
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Runs Canal's server in this process from the start of the binlog and writes each record of its Kafka producer as a line of JSON.
 *
 * The producer is Canal's own; only the client inside it is Kafka's MockProducer. Every table is created while Canal watches, so the
 * history of table definitions begins empty and is kept in memory. Argument: a properties file with the producer's properties and
 * recorder.output, recorder.sentinel, recorder.seconds (as DebeziumRecorder's; the sentinel is a text in the last record's value),
 * recorder.port, recorder.user, recorder.password, recorder.file (the first binlog file). Exit codes: 0 the last record came, 4 the
 * time is over, 5 nothing came for recorder.stall seconds: Canal reads an event that it cannot parse again and again.
 */
public class CanalRecorder {
    private static final String DESTINATION = "recorder";

    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        try (FileInputStream file = new FileInputStream(arguments[0])) {
            properties.load(file);
        }
        CanalServerWithEmbedded server = CanalServerWithEmbedded.instance();
        server.setMetricsPort(0);
        server.setCanalInstanceGenerator(destination -> instance(properties));
        server.start();
        server.start(DESTINATION);
        CanalKafkaProducer producer = new CanalKafkaProducer();
        producer.init(properties);
        MockProducer<String, byte[]> client = new MockProducer<>(true, new StringSerializer(), new ByteArraySerializer());
        Field field = CanalKafkaProducer.class.getDeclaredField("producer");
        field.setAccessible(true);
        ((Producer<?, ?>) field.get(producer)).close();
        field.set(producer, client);
        Runtime.getRuntime().halt(publish(server, producer, client, properties));
    }

    private static int publish(CanalServerWithEmbedded server, CanalKafkaProducer producer, MockProducer<String, byte[]> client,
            Properties properties) throws Exception {
        ClientIdentity identity = new ClientIdentity(DESTINATION, (short) 1001, "");
        server.subscribe(identity);
        MQDestination destination = new MQDestination();
        destination.setCanalDestination(DESTINATION);
        destination.setTopic(properties.getProperty("recorder.topic"));
        if (properties.getProperty("recorder.partitionHash") == null) {
            destination.setPartition(0);
        } else {
            destination.setPartitionsNum(Integer.valueOf(properties.getProperty("recorder.partitions")));
            destination.setPartitionHash(properties.getProperty("recorder.partitionHash"));
        }
        int batch = producer.getMqProperties().getBatchSize();
        long timeout = producer.getMqProperties().getFetchTimeout();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(properties.getProperty("recorder.seconds")));
        try (PrintStream output = new PrintStream(properties.getProperty("recorder.output"), StandardCharsets.UTF_8)) {
            long stall = TimeUnit.SECONDS.toNanos(Long.parseLong(properties.getProperty("recorder.stall")));
            long progress = System.nanoTime();
            while (System.nanoTime() < end) {
                Message message = server.getWithoutAck(identity, batch, timeout, TimeUnit.MILLISECONDS);
                long number = message.getId();
                if (number == -1 || (message.isRaw() ? message.getRawEntries() : message.getEntries()).isEmpty()) {
                    if (System.nanoTime() - progress > stall) {
                        return 5;
                    }
                    continue;
                }
                progress = System.nanoTime();
                producer.send(destination, message, new Callback() {
                    @Override
                    public void commit() {
                        server.ack(identity, number);
                    }

                    @Override
                    public void rollback() {
                        server.rollback(identity, number);
                    }
                });
                List<ProducerRecord<String, byte[]>> records = client.history();
                client.clear();
                boolean last = false;
                for (ProducerRecord<String, byte[]> record : records) {
                    output.println(line(record));
                    String text = new String(record.value(), StandardCharsets.UTF_8);
                    last |= text.contains(properties.getProperty("recorder.sentinel"));
                }
                output.flush();
                if (last) {
                    return 0;
                }
            }
        }
        return 4;
    }

    private static CanalInstanceWithManager instance(Properties properties) {
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
        parameters.setConnectionCharset("UTF-8");
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
        parser.setTsdbJdbcUrl("");
        parser.setTsdbJdbcUserName("");
        parser.setTsdbJdbcPassword("");
        parser.setEnableTsdb(true);
        return instance;
    }

    private static String line(ProducerRecord<String, byte[]> record) {
        StringBuilder headers = new StringBuilder();
        for (Header header : record.headers()) {
            headers.append(headers.length() == 0 ? "" : ",");
            headers.append("[").append(coded(bytes(header.key()))).append(",").append(coded(header.value())).append("]");
        }
        return "{\"topic\":" + coded(bytes(record.topic())) + ",\"partition\":" + record.partition() + ",\"key\":"
                + coded(bytes(record.key())) + ",\"value\":" + coded(record.value()) + ",\"headers\":[" + headers + "]}";
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    private static String coded(byte[] bytes) {
        return bytes == null ? "null" : "\"" + Base64.getEncoder().encodeToString(bytes) + "\"";
    }
}
