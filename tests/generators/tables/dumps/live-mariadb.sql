CREATE TABLE everything (
 id bigint unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s; `key`', t1 tinyint(1) DEFAULT 1, t2 tinyint(4) unsigned,
 sm smallint(5) zerofill, me mediumint NOT NULL DEFAULT -5, i int(11), ib int(5), bg bigint, de decimal(10,2) DEFAULT 0,
 de2 decimal(65,30), de3 decimal(5,2) unsigned, f float, f2 float(7,3), f3 float(30), d2 double(10,4) unsigned, r real,
 b1 bit(1) DEFAULT b'1', b8 bit(64), ch char(16) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'x', vc varchar(255) DEFAULT '',
 tt tinytext, tx text, mt mediumtext, lt longtext, bi binary(4) DEFAULT 'ab', vb varbinary(64) DEFAULT x'00ff', tb tinyblob,
 bl blob, mb mediumblob, lb longblob, da date DEFAULT '2024-01-01', ts timestamp NOT NULL DEFAULT '2024-01-01 00:00:00',
 dt datetime(3) DEFAULT current_timestamp(3) ON UPDATE current_timestamp(3), ti time(2), y year(4) DEFAULT 2024,
 en enum('a','it''s','x,y','\\') NOT NULL DEFAULT 'it''s', se set('a','b','c') DEFAULT 'a,c', js json,
 gs int GENERATED ALWAYS AS (i + 1) STORED, gv int AS (i * 2) VIRTUAL, inv int INVISIBLE DEFAULT 3,
 ex varchar(36) DEFAULT (uuid()), co text COMPRESSED, seq int CHECK (seq > 5.5 and seq <= 100), na nchar(5),
 PRIMARY KEY (id, t1), UNIQUE KEY u (vc, i), UNIQUE KEY p (tx(10)), KEY k (dt) COMMENT 'c', FULLTEXT KEY ft (lt),
 CONSTRAINT c1 CHECK (bg BETWEEN -5 AND 5), CONSTRAINT c2 CHECK (vc IN ('a','b') OR vc = 'c')
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='all; types';
CREATE TABLE `a``b` (id int PRIMARY KEY, e_id bigint unsigned, t1 tinyint(1),
 FOREIGN KEY (e_id, t1) REFERENCES everything (id, t1));
CREATE TABLE geo (id int PRIMARY KEY, g point NOT NULL, SPATIAL KEY sg (g));
CREATE TABLE parts (id int, y int) PARTITION BY RANGE (y) (PARTITION p0 VALUES LESS THAN (2020));
CREATE VIEW v AS SELECT id, vc FROM everything;
CREATE TRIGGER trg BEFORE INSERT ON `a``b` FOR EACH ROW SET NEW.e_id = NULL;
INSERT INTO `a``b` VALUES (1, NULL, NULL);
CREATE USER secret@'%' IDENTIFIED BY 'SECRET';
GRANT SELECT, SHOW VIEW ON audit.* TO secret@'%';
