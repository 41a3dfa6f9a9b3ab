CREATE TABLE `t` (
  `id` bigint unsigned NOT NULL /*T![auto_rand] AUTO_RANDOM(5) */ COMMENT 'it''s', `c` decimal(5,2) DEFAULT -0.5,
  `e` enum('a','b') CHARACTER SET latin1 DEFAULT 'a', `g` int GENERATED ALWAYS AS (`id` + 1) STORED,
  PRIMARY KEY (`id`) /*T![clustered_index] CLUSTERED */, UNIQUE KEY `u` (`c` DESC, `e`(1)),
  CONSTRAINT `k` CHECK ((`c` > 0) AND (`e` IN ('a'))), CONSTRAINT `f` FOREIGN KEY (`id`) REFERENCES `t` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='x' /*T![ttl] TTL=`b` + INTERVAL 1 YEAR */ PARTITION BY HASH (`id`);
ALTER TABLE `t` ADD COLUMN (d int), MODIFY `c` int FIRST, DROP COLUMN `g`; CREATE INDEX i ON t (c); DROP TABLE u;