CREATE TABLE parent (id bigint PRIMARY KEY, email character varying(80) NOT NULL, doc jsonb);
CREATE TABLE line (b integer, parent_id bigint NOT NULL REFERENCES parent (id), a character varying(20) NOT NULL, v numeric(10,2),
  PRIMARY KEY (a, parent_id));
CREATE TABLE heap (a integer, b integer);
