import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import io.debezium.config.Configuration;
import io.debezium.connector.mongodb.CollectionId;
import io.debezium.connector.mongodb.MongoDbCollectionSchema;
import io.debezium.connector.mongodb.MongoDbConnectorConfig;
import io.debezium.connector.mongodb.MongoDbSchema;
import io.debezium.connector.mongodb.MongoDbTaskContext;
import io.debezium.connector.mongodb.SourceInfo;
import io.debezium.data.Envelope.Operation;
import io.debezium.spi.topic.TopicNamingStrategy;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;
import org.bson.BsonDocument;
import org.bson.BsonDocumentReader;
import org.bson.codecs.Codec;
import org.bson.codecs.DecoderContext;

/**
 * Makes the records of change events with the classes of Debezium's MongoDB connector and Kafka Connect's JsonConverter, without a
 * database. What differs by release is found at run time.
 *
 * Arguments: a file with a change event a line, in canonical Extended JSON, as a change stream gives it, and `now` beside it, the
 * connector's clock in milliseconds; `operationType` may be `read`, for a document of a snapshot. A file for the results, a line of
 * JSON each: `topic`, and `key` and `value` in base64. The topics' prefix. The value of `schemas.enable` for key and value. The
 * value of `schema.name.adjustment.mode`.
 */
public class DebeziumDocuments {
    private static final String REPLICA_SET = "rs0";
    private static final Map<String, Operation> OPERATIONS =
            Map.of(
                    "insert", Operation.CREATE,
                    "update", Operation.UPDATE,
                    "replace", Operation.UPDATE,
                    "delete", Operation.DELETE,
                    "read", Operation.READ);
    private static final Codec<ChangeStreamDocument> EVENTS =
            (Codec) ChangeStreamDocument.createCodec(BsonDocument.class, MongoClientSettings.getDefaultCodecRegistry());
    private static final JsonConverter KEYS = new JsonConverter();
    private static final JsonConverter VALUES = new JsonConverter();

    private static MongoDbConnectorConfig config;
    private static MongoDbSchema schemas;
    private static TopicNamingStrategy<CollectionId> topics;

    public static void main(String[] arguments) throws Exception {
        start(arguments[2], arguments[3], arguments[4]);
        List<String> results = new ArrayList<>();
        for (String line : Files.readString(Path.of(arguments[0])).split("\n")) {
            if (!line.isEmpty()) {
                results.add(record(BsonDocument.parse(line)));
            }
        }
        Files.write(Path.of(arguments[1]), results);
    }

    /** Makes the connector's schemas, with its default options but for names, and the converters. */
    private static void start(String prefix, String schemasEnable, String names) throws Exception {
        Map<String, String> options = new HashMap<>();
        options.put("name", "recorder");
        options.put("topic.prefix", prefix);
        options.put("schema.name.adjustment.mode", names);
        options.put("mongodb.connection.string", "mongodb://localhost/?replicaSet=" + REPLICA_SET);
        Configuration configuration = Configuration.from(options);
        config = new MongoDbConnectorConfig(configuration);
        MongoDbTaskContext context = new MongoDbTaskContext(configuration);
        topics = config.getTopicNamingStrategy(MongoDbConnectorConfig.TOPIC_NAMING_STRATEGY);
        Schema source = new SourceInfo(config).schema();
        Constructor<?> constructor = MongoDbSchema.class.getConstructors()[0];
        schemas =
                (MongoDbSchema)
                        (constructor.getParameterCount() == 5
                                ? constructor.newInstance(config, context, topics, source, config.schemaNameAdjuster())
                                : constructor.newInstance(
                                        MongoDbTaskContext.class.getMethod("filters").invoke(context),
                                        topics,
                                        source,
                                        config.schemaNameAdjuster()));
        KEYS.configure(Map.of("schemas.enable", schemasEnable), true);
        VALUES.configure(Map.of("schemas.enable", schemasEnable), false);
    }

    private static String record(BsonDocument line) throws Exception {
        Operation operation = OPERATIONS.get(line.getString("operationType").getValue());
        long now = line.remove("now").asInt64().getValue();
        BsonDocument namespace = line.getDocument("ns");
        CollectionId id = collection(namespace.getString("db").getValue(), namespace.getString("coll").getValue());
        MongoDbCollectionSchema schema = (MongoDbCollectionSchema) schemas.schemaFor(id);
        SourceInfo source = new SourceInfo(config);
        Struct key;
        Struct value;
        if (operation == Operation.READ) {
            BsonDocument document = line.getDocument("fullDocument");
            snapshotSource(source, id);
            key = schema.keyFromDocument(document);
            value = schema.valueFromDocumentSnapshot(document, operation);
        } else {
            ChangeStreamDocument<BsonDocument> event =
                    EVENTS.decode(new BsonDocumentReader(line), DecoderContext.builder().build());
            call(source, "changeStreamEvent", ChangeStreamDocument.class, event);
            key = schema.keyFromDocument(event.getDocumentKey());
            value = schema.valueFromDocumentChangeStream(event, operation);
        }
        value.put("source", source.struct());
        value.put("op", operation.code());
        value.put("ts_ms", now);
        String topic = topics.dataChangeTopic(id);
        return "{\"topic\":\""
                + encoded(topic.getBytes(StandardCharsets.UTF_8))
                + "\",\"key\":\""
                + encoded(KEYS.fromConnectData(topic, schema.keySchema(), key))
                + "\",\"value\":\""
                + encoded(VALUES.fromConnectData(topic, value.schema(), value))
                + "\"}";
    }

    private static String encoded(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    /** The id of a collection, which has the name of the replica set in older releases. */
    private static CollectionId collection(String database, String name) throws Exception {
        for (Constructor<?> constructor : CollectionId.class.getConstructors()) {
            if (constructor.getParameterCount() == 3) {
                return (CollectionId) constructor.newInstance(REPLICA_SET, database, name);
            }
        }
        return CollectionId.class.getConstructor(String.class, String.class).newInstance(database, name);
    }

    /** Brings the position to where it is in a snapshot: a resume token without a time, of a database in which nothing changes. */
    private static void snapshotSource(SourceInfo source, CollectionId id) throws Exception {
        boolean older = has("startInitialSync");
        if (older) {
            source.getClass().getMethod("startInitialSync", String.class).invoke(source, REPLICA_SET);
        } else {
            source.getClass().getMethod("startInitialSnapshot").invoke(source);
        }
        call(source, "noEvent", String.class, "token");
        if (older) {
            source.getClass()
                    .getMethod("collectionEvent", String.class, CollectionId.class, long.class)
                    .invoke(source, REPLICA_SET, id, 0L);
        } else {
            source.getClass().getMethod("readEvent", CollectionId.class, long.class).invoke(source, id, 0L);
        }
    }

    private static boolean has(String name) {
        for (Method method : SourceInfo.class.getMethods()) {
            if (method.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** Calls a method of the position, with the name of the replica set before its argument in older releases. */
    private static void call(SourceInfo source, String name, Class<?> type, Object argument) throws Exception {
        Method method;
        try {
            method = SourceInfo.class.getDeclaredMethod(name, type);
            method.setAccessible(true);
            method.invoke(source, argument);
        } catch (NoSuchMethodException older) {
            method = SourceInfo.class.getDeclaredMethod(name, String.class, type);
            method.setAccessible(true);
            method.invoke(source, REPLICA_SET, argument);
        }
    }
}
