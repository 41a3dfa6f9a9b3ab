CREATE TYPE public.mood AS ENUM ('a', 'b'); ALTER TYPE mood ADD VALUE 'c' BEFORE 'a';
CREATE DOMAIN d AS integer DEFAULT 5 NOT NULL CHECK (VALUE > 0);
CREATE TABLE public.t (id integer NOT NULL, m public.mood DEFAULT 'a'::public.mood, "D" d[], n numeric(10,2)[] COLLATE "C",
  t timestamp(3) with time zone, g text GENERATED ALWAYS AS (lower(m::text)) STORED, i interval day to second(3),
  CONSTRAINT c CHECK (((n)::text = ANY (ARRAY['a'::text]))), UNIQUE (id, m)) PARTITION BY RANGE (id);
ALTER TABLE ONLY public.t ADD CONSTRAINT p PRIMARY KEY (id), ALTER COLUMN id SET DEFAULT nextval('s'::regclass);
ALTER TABLE t REPLICA IDENTITY FULL; COMMENT ON COLUMN t.id IS E'x\n'; COMMENT ON TABLE t IS NULL;
CREATE UNIQUE INDEX i ON t USING btree (id) INCLUDE (m) WHERE (id > 5); COPY t (id) FROM stdin;
1
\.
