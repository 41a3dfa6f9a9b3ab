-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
--
-- Host: localhost    Database: shop
-- ------------------------------------------------------
-- Server version	8.0.36

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!50503 SET NAMES utf8mb4 */;
/*!40103 SET TIME_ZONE='+00:00' */;

--
-- Table structure for table `customers`
--

DROP TABLE IF EXISTS `customers`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `customers` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `email` varchar(120) CHARACTER SET latin1 COLLATE latin1_swedish_ci NOT NULL COMMENT 'it''s; here',
  `kind` enum('new','it''s','a,b') COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT 'it''s',
  PRIMARY KEY (`id`),
  UNIQUE KEY `email` (`email`),
  KEY `kind` (`kind`) USING BTREE COMMENT 'x' /*!80000 INVISIBLE */
) ENGINE=InnoDB AUTO_INCREMENT=17 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='who; buys';
/*!40101 SET character_set_client = @saved_cs_client */;

CREATE TABLE `orders` (
  `id` bigint NOT NULL,
  `customer` int unsigned DEFAULT NULL,
  `amount` decimal(10,2) DEFAULT '0.00',
  `due` date DEFAULT '2024-01-31',
  `made` datetime(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  `flags` set('a','b') DEFAULT 'a,b',
  `bits` bit(4) DEFAULT b'101',
  `raw` binary(4) DEFAULT 'ab\0\0',
  `old` float(7,3) DEFAULT NULL,
  `zip` int(5) unsigned zerofill DEFAULT NULL,
  `doc` json DEFAULT (json_object()),
  `twice` decimal(12,2) GENERATED ALWAYS AS ((`amount` * 2)) STORED,
  `half` int GENERATED ALWAYS AS ((`id` / 2)) VIRTUAL COMMENT 'h' /*!80023 INVISIBLE */,
  PRIMARY KEY (`id`,`customer`),
  KEY `fk` (`customer`),
  KEY `lower` ((lower(`doc`))),
  FULLTEXT KEY `ft` (`doc`) /*!50100 WITH PARSER `ngram` */ ,
  CONSTRAINT `fk` FOREIGN KEY (`customer`) REFERENCES `customers` (`id`) ON DELETE CASCADE,
  CONSTRAINT `positive` CHECK ((`amount` > 0)),
  CONSTRAINT `off` CHECK ((`id` > 0)) /*!80016 NOT ENFORCED */
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
/*!50100 PARTITION BY HASH (`id`)
PARTITIONS 4 */;

INSERT INTO `orders` VALUES (1,1,'a;b','--'),(2,2,'it\'s','CREATE TABLE `no` (`a` int);');
INSERT INTO `orders` VALUES (3,1,'','');

--
-- Temporary view structure for view `v`
--

/*!50001 DROP VIEW IF EXISTS `v`*/;
/*!50001 CREATE VIEW `v` AS SELECT
 1 AS `id`*/;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER `t` BEFORE INSERT ON `orders` FOR EACH ROW BEGIN
  SET NEW.amount = 1; SET NEW.id = 2;
END */;;
DELIMITER ;
