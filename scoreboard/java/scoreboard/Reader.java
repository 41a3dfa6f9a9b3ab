package scoreboard;

import java.util.List;
import java.util.Map;

/** A reader of one format, set up for one table. */
public interface Reader {
    /**
     * The rows of the table that a message gives, in the reader's order; an empty list if it gives none. What it throws is
     * reported as a message that the reader cannot read.
     */
    List<Row> read(Message message) throws Exception;

    /** A Kafka record; key and value may be null. */
    record Message(String topic, byte[] key, byte[] value) {}

    /** A row as the reader gives it. `op` is INSERT, UPDATE, DELETE or READ; an image that the reader does not give is null. */
    record Row(String op, Map<String, Object> before, Map<String, Object> after) {}

    /** The table; `schema` is null in MySQL. */
    record Table(String database, String schema, String name, List<String> primaryKey, List<Column> columns) {}

    /**
     * A column. `type` is the source's type (`bigint`), `logical` its class (`int`), `spark` the type whose form the cells have at
     * the harness's side. `length`, `precision` and `scale` are -1 where the type has none; `fsp` counts the digits of a second's
     * fraction; `members` are the labels of an ENUM or SET.
     */
    record Column(
            String name,
            String type,
            String logical,
            String spark,
            boolean nullable,
            boolean unsigned,
            int length,
            int precision,
            int scale,
            int fsp,
            List<String> members) {}

    /** Makes a reader of a format for a table, with the server's time zone, and options in the product's words. */
    interface Factory {
        Reader open(String format, Table table, String timeZone, Map<String, String> options) throws Exception;
    }
}
