CREATE TABLE `customers` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `email` varchar(120) NOT NULL,
  `full_name` varchar(80) CHARACTER SET latin1 DEFAULT NULL,
  `phone` varchar(32) DEFAULT NULL,
  `city` varchar(64) DEFAULT NULL,
  `tier` enum('basic','plus','gold') NOT NULL DEFAULT 'basic',
  `created_at` datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_email` (`email`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `orders` (
  `id` bigint NOT NULL,
  `customer_id` bigint unsigned NOT NULL,
  `status` enum('NEW','PAID','SHIPPED') NOT NULL DEFAULT 'NEW',
  `amount` decimal(20,4) NOT NULL DEFAULT '0.0000',
  `quantity` int NOT NULL DEFAULT 1,
  `note` text,
  `updated_at` timestamp NULL DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `ix_customer` (`customer_id`),
  CONSTRAINT `fk_customer` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`),
  CONSTRAINT `ck_quantity` CHECK (`quantity` BETWEEN 1 AND 999)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
