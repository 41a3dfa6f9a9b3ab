CREATE TABLE `t` (
  `id` bigint NOT NULL /*T![auto_rand] AUTO_RANDOM(5) */,
  `v` vector(3) DEFAULT NULL,
  `a` varchar(10) DEFAULT NULL,
  PRIMARY KEY (`id`) /*T![clustered_index] CLUSTERED */,
  UNIQUE KEY `u` (`a`) /*T![global_index] GLOBAL */
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin /*T![auto_rand_base] AUTO_RANDOM_BASE=30001 */;
CREATE TABLE `n` (
  `a` int NOT NULL,
  `b` date DEFAULT NULL,
  PRIMARY KEY (`a`) /*T![clustered_index] NONCLUSTERED */
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
/*T! SHARD_ROW_ID_BITS=4 PRE_SPLIT_REGIONS=2 */ /*T![ttl] TTL=`b` + INTERVAL 1 YEAR */ /*T![ttl] TTL_ENABLE='ON' */
/*T![placement] PLACEMENT POLICY=`p` */;
