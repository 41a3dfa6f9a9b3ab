package echo;

import java.math.BigDecimal;
import java.time.*;
import java.util.*;
import scoreboard.Reader;

public final class Echo implements Reader.Factory {
    public Reader open(String format, Reader.Table table, String timeZone, Map<String, String> options) throws Exception {
        if (table.name().equals("refused")) throw new IllegalStateException("no such type", new Exception("really"));
        return message -> {
            if (message.value() == null) return List.of();
            if (message.value().length == 0) throw new IllegalArgumentException("empty");
            System.out.println("a reader that prints");
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("name", table.columns().get(0).name() + table.columns().get(0).members());
            row.put("number", 9223372036854775807L);
            row.put("decimal", new BigDecimal("1E+3"));
            row.put("bytes", message.value());
            row.put("instant", Instant.parse("2024-02-29T23:59:59.123456789Z"));
            row.put("clock", LocalDateTime.parse("2024-02-29T00:00:00"));
            row.put("time", LocalTime.of(23, 59));
            row.put("date", LocalDate.parse("0001-01-01"));
            row.put("set", List.of("a", "b"));
            row.put("flag", true);
            row.put("none", null);
            row.put("zone", timeZone + options);
            row.put("zone", timeZone + options);
            return List.of(new Reader.Row("UPDATE", null, row), new Reader.Row("DELETE", row, null));
        };
    }
}
