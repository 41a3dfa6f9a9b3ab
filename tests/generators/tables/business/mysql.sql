-- What a shop, its warehouse, its books and its logs keep in MySQL 8: everyday types, defaults, keys.
SET NAMES utf8mb4;
CREATE DATABASE IF NOT EXISTS `erp` DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci;
USE `erp`;

CREATE TABLE `countries` (
  `iso2` char(2) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `iso3` char(3) CHARACTER SET ascii NOT NULL,
  `name` varchar(80) NOT NULL,
  `phone_prefix` smallint unsigned DEFAULT NULL,
  `vat_rate` decimal(5,2) NOT NULL DEFAULT '0.00',
  `is_eu` tinyint(1) NOT NULL DEFAULT '0',
  PRIMARY KEY (`iso2`),
  UNIQUE KEY `uq_iso3` (`iso3`)
) ENGINE=InnoDB;
CREATE TABLE `currencies` (
  `code` char(3) NOT NULL PRIMARY KEY,
  `minor_units` tinyint unsigned NOT NULL DEFAULT 2,
  `symbol` varchar(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci DEFAULT '€',
  `active` bool NOT NULL DEFAULT true
);
CREATE TABLE `tenants` (
  `id` binary(16) NOT NULL DEFAULT (uuid_to_bin(uuid())),
  `slug` varchar(63) NOT NULL UNIQUE,
  `plan` enum('free','team','business','it''s special') NOT NULL DEFAULT 'free',
  `flags` set('beta','sso','audit','export') NOT NULL DEFAULT '',
  `settings` json DEFAULT NULL,
  `created_at` timestamp NULL DEFAULT CURRENT_TIMESTAMP,
  `updated_at` timestamp NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP,
  `deleted_at` timestamp NULL DEFAULT NULL,
  PRIMARY KEY (`id`)
) COMMENT='One row a customer''s account';
CREATE TABLE `users` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `tenant_id` binary(16) NOT NULL,
  `email` varchar(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_cs NOT NULL,
  `password_hash` varbinary(60) DEFAULT NULL,
  `display_name` varchar(120) NOT NULL DEFAULT '',
  `locale` varchar(10) NOT NULL DEFAULT 'en_US',
  `time_zone` varchar(40) NOT NULL DEFAULT 'Europe/Berlin',
  `birth_date` date DEFAULT NULL,
  `failed_logins` tinyint unsigned NOT NULL DEFAULT '0',
  `last_login_ip` varbinary(16) DEFAULT NULL,
  `last_login_at` datetime(6) DEFAULT NULL,
  `created_at` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  `updated_at` datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_users_email` (`tenant_id`,`email`),
  KEY `ix_users_name` (`display_name`(20)),
  CONSTRAINT `fk_users_tenant` FOREIGN KEY (`tenant_id`) REFERENCES `tenants` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB AUTO_INCREMENT=1000;
CREATE TABLE `roles` (`id` smallint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, `name` varchar(40) NOT NULL, `permissions` json NOT NULL DEFAULT (json_array()));
CREATE TABLE `user_roles` (
  `user_id` bigint unsigned NOT NULL,
  `role_id` smallint unsigned NOT NULL,
  `granted_by` bigint unsigned DEFAULT NULL,
  `granted_at` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (`user_id`,`role_id`)
);
CREATE TABLE `sessions` (
  `token` char(64) CHARACTER SET latin1 COLLATE latin1_bin NOT NULL,
  `user_id` bigint unsigned NOT NULL,
  `payload` mediumblob,
  `user_agent` varchar(512) DEFAULT NULL,
  `expires_at` int unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (`token`),
  KEY (`expires_at`)
) ROW_FORMAT=DYNAMIC;
CREATE TABLE `customers` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `number` varchar(20) NOT NULL,
  `type` enum('person','company') NOT NULL DEFAULT 'person',
  `salutation` varchar(10) DEFAULT NULL,
  `first_name` varchar(60) DEFAULT NULL,
  `last_name` varchar(60) DEFAULT NULL,
  `full_name` varchar(121) GENERATED ALWAYS AS (concat_ws(' ',`first_name`,`last_name`)) STORED,
  `company` varchar(120) DEFAULT NULL,
  `vat_id` varchar(16) DEFAULT NULL,
  `credit_limit` decimal(12,2) NOT NULL DEFAULT '1000.00',
  `discount_percent` float DEFAULT NULL,
  `rating` double NOT NULL DEFAULT 0,
  `newsletter` tinyint(1) DEFAULT NULL,
  `notes` text,
  `country` char(2) NOT NULL DEFAULT 'DE',
  PRIMARY KEY (`id`),
  UNIQUE KEY `number` (`number`),
  KEY `country` (`country`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='Buyers';
CREATE TABLE `addresses` (
  `id` int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  `customer_id` int unsigned NOT NULL,
  `kind` enum('billing','shipping') NOT NULL,
  `line1` varchar(200) NOT NULL,
  `line2` varchar(200) NOT NULL DEFAULT '',
  `zip` varchar(12) NOT NULL,
  `city` varchar(80) NOT NULL,
  `country` char(2) NOT NULL,
  `latitude` decimal(9,6) DEFAULT NULL,
  `longitude` decimal(9,6) DEFAULT NULL,
  `valid_from` date NOT NULL DEFAULT (curdate()),
  `valid_to` date DEFAULT '9999-12-31',
  FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`)
);
CREATE TABLE `categories` (
  `id` int NOT NULL AUTO_INCREMENT,
  `parent_id` int DEFAULT NULL,
  `path` varchar(255) NOT NULL,
  `depth` tinyint NOT NULL DEFAULT '0',
  `sort_order` mediumint NOT NULL DEFAULT '0',
  PRIMARY KEY (`id`),
  KEY `parent` (`parent_id`),
  CONSTRAINT `fk_parent` FOREIGN KEY (`parent_id`) REFERENCES `categories` (`id`) ON DELETE SET NULL ON UPDATE CASCADE
);
CREATE TABLE `category_texts` (
  `category_id` int NOT NULL,
  `lang` char(5) NOT NULL DEFAULT 'en-GB',
  `name` varchar(100) NOT NULL,
  `description` longtext,
  PRIMARY KEY (`category_id`,`lang`)
);
CREATE TABLE `products` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `sku` varchar(40) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
  `ean` bigint unsigned zerofill DEFAULT NULL,
  `name` varchar(255) NOT NULL,
  `description` mediumtext,
  `price` decimal(10,2) unsigned NOT NULL DEFAULT '0.00',
  `cost` decimal(14,4) DEFAULT NULL,
  `weight_kg` decimal(8,3) DEFAULT '0.000',
  `attributes` json DEFAULT NULL,
  `color` varchar(30) GENERATED ALWAYS AS (json_unquote(json_extract(`attributes`,'$.color'))) VIRTUAL,
  `gross` decimal(12,2) AS (`price` * 1.19) STORED,
  `status` enum('draft','active','retired') DEFAULT 'draft',
  `release_year` year DEFAULT NULL,
  `thumbnail` blob,
  `checksum` binary(32) DEFAULT NULL,
  `visible` bit(1) NOT NULL DEFAULT b'1',
  `feature_bits` bit(12) DEFAULT b'101',
  `version` int unsigned NOT NULL DEFAULT '1',
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_sku` (`sku`),
  KEY `ix_status` (`status`,`price` DESC),
  FULLTEXT KEY `ft` (`name`,`description`)
);
CREATE TABLE `product_texts` (
  `product_id` bigint NOT NULL,
  `lang` varchar(5) NOT NULL,
  `title` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_ja_0900_as_cs NOT NULL DEFAULT '無題',
  `body` text CHARACTER SET utf8mb4,
  PRIMARY KEY (`product_id`,`lang`)
);
CREATE TABLE `product_categories` (`product_id` bigint NOT NULL, `category_id` int NOT NULL, `position` smallint NOT NULL DEFAULT 32767, PRIMARY KEY (`product_id`,`category_id`));
CREATE TABLE `price_lists` (
  `product_id` bigint NOT NULL,
  `currency` char(3) NOT NULL DEFAULT 'EUR',
  `min_quantity` decimal(10,3) NOT NULL DEFAULT '1.000',
  `price` decimal(19,4) NOT NULL,
  `valid_from` date NOT NULL DEFAULT '2000-01-01',
  `valid_to` date DEFAULT NULL,
  PRIMARY KEY (`product_id`,`currency`,`min_quantity`,`valid_from`),
  CHECK (`price` >= 0)
);
CREATE TABLE `warehouses` (
  `code` varchar(8) NOT NULL PRIMARY KEY,
  `name` varchar(60) NOT NULL DEFAULT 'main',
  `opens_at` time NOT NULL DEFAULT '08:00:00',
  `closes_at` time(3) DEFAULT '17:30:00.000',
  `location` point DEFAULT NULL
);
CREATE TABLE `depots` (
  `code` varchar(8) NOT NULL PRIMARY KEY,
  `opens_at` time NOT NULL DEFAULT '08:00:00',
  `closes_at` time(3) DEFAULT '17:30:00.000',
  `shift` time(6) DEFAULT NULL
);
CREATE TABLE `stock` (
  `product_id` bigint NOT NULL,
  `warehouse` varchar(8) NOT NULL,
  `on_hand` int NOT NULL DEFAULT '0',
  `reserved` int unsigned NOT NULL DEFAULT '0',
  `available` int AS (`on_hand` - `reserved`) VIRTUAL,
  `counted_at` timestamp(6) NULL DEFAULT NULL,
  PRIMARY KEY (`product_id`,`warehouse`)
);
CREATE TABLE `stock_movements` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `product_id` bigint NOT NULL,
  `warehouse` varchar(8) NOT NULL,
  `quantity` decimal(12,3) NOT NULL,
  `reason` varchar(40) NOT NULL DEFAULT 'sale',
  `happened_at` datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  `actor` varchar(64) DEFAULT (current_user()),
  PRIMARY KEY (`id`),
  KEY `ix_mov` (`product_id`,`happened_at`)
);
CREATE TABLE `suppliers` (`id` serial, `name` varchar(120) NOT NULL, `iban` varchar(34) DEFAULT NULL, `lead_days` tinyint unsigned DEFAULT 14);
CREATE TABLE `purchase_orders` (
  `id` int NOT NULL AUTO_INCREMENT,
  `supplier_id` bigint unsigned NOT NULL,
  `ordered_on` date NOT NULL,
  `expected_on` date DEFAULT NULL,
  `total` decimal(15,2) NOT NULL DEFAULT 0,
  `status` varchar(16) NOT NULL DEFAULT 'open',
  PRIMARY KEY (`id`)
);
CREATE TABLE `orders` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `number` char(12) NOT NULL,
  `customer_id` int unsigned NOT NULL,
  `status` enum('new','paid','shipped','delivered','cancelled','returned') NOT NULL DEFAULT 'new',
  `currency` char(3) NOT NULL DEFAULT 'EUR',
  `net` decimal(12,2) NOT NULL DEFAULT '0.00',
  `tax` decimal(12,2) NOT NULL DEFAULT '0.00',
  `gross` decimal(12,2) GENERATED ALWAYS AS (`net` + `tax`) STORED,
  `placed_at` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
  `paid_at` timestamp NULL DEFAULT NULL,
  `shipping` json DEFAULT NULL,
  `coupon` varchar(32) DEFAULT NULL,
  `note` tinytext,
  PRIMARY KEY (`id`),
  UNIQUE KEY `number` (`number`),
  KEY `customer` (`customer_id`,`placed_at`),
  CONSTRAINT `orders_customer` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) ON DELETE RESTRICT
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE `order_items` (
  `order_id` bigint unsigned NOT NULL,
  `line` smallint unsigned NOT NULL,
  `product_id` bigint NOT NULL,
  `quantity` decimal(10,3) NOT NULL DEFAULT '1.000',
  `unit_price` decimal(10,2) NOT NULL,
  `discount` decimal(5,4) NOT NULL DEFAULT '0.0000',
  `options` json DEFAULT NULL,
  PRIMARY KEY (`order_id`,`line`),
  CONSTRAINT `items_order` FOREIGN KEY (`order_id`) REFERENCES `orders` (`id`) ON DELETE CASCADE
);
CREATE TABLE `shipments` (
  `id` bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
  `order_id` bigint unsigned NOT NULL,
  `carrier` varchar(20) NOT NULL DEFAULT 'dhl',
  `tracking` varchar(40) UNIQUE,
  `weight_g` int unsigned DEFAULT NULL,
  `shipped_at` datetime DEFAULT NULL,
  `delivered_at` datetime DEFAULT NULL,
  `label` longblob
);
CREATE TABLE `invoices` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `series` char(4) NOT NULL DEFAULT 'INV-',
  `number` int unsigned zerofill NOT NULL,
  `order_id` bigint unsigned DEFAULT NULL,
  `issued_on` date NOT NULL DEFAULT '0000-00-00',
  `due_on` date DEFAULT NULL,
  `total` decimal(15,2) NOT NULL,
  `pdf` mediumblob,
  `sent` bit(1) DEFAULT NULL,
  `fiscal_year` year NOT NULL DEFAULT 2024,
  PRIMARY KEY (`id`),
  UNIQUE KEY `series_number` (`series`,`number`)
);
CREATE TABLE `invoice_lines` (`invoice_id` bigint NOT NULL, `line` int NOT NULL, `text` varchar(500) NOT NULL DEFAULT '-', `amount` decimal(15,2) NOT NULL, `vat` decimal(4,1) NOT NULL DEFAULT 19.0, PRIMARY KEY (`invoice_id`,`line`));
CREATE TABLE `payments` (
  `id` char(36) NOT NULL DEFAULT (uuid()),
  `invoice_id` bigint DEFAULT NULL,
  `provider` enum('stripe','paypal','sepa') CHARACTER SET latin1 NOT NULL,
  `amount` decimal(19,4) NOT NULL,
  `fee` double(10,4) DEFAULT NULL,
  `fx_rate` float(9,6) DEFAULT '1.000000',
  `raw` json NOT NULL,
  `received_at` timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  PRIMARY KEY (`id`)
);
CREATE TABLE `accounts` (`no` varchar(10) NOT NULL, `title` varchar(100) NOT NULL, `kind` char(1) NOT NULL DEFAULT 'A', `balance` decimal(20,2) NOT NULL DEFAULT 0.00, PRIMARY KEY (`no`));
CREATE TABLE `journal` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `booked_on` date NOT NULL,
  `debit` varchar(10) NOT NULL,
  `credit` varchar(10) NOT NULL,
  `amount` decimal(20,2) NOT NULL,
  `memo` varchar(200) DEFAULT NULL,
  `period` char(7) GENERATED ALWAYS AS (date_format(`booked_on`,'%Y-%m')) VIRTUAL,
  PRIMARY KEY (`id`,`booked_on`)
) PARTITION BY RANGE (YEAR(`booked_on`)) (PARTITION p2023 VALUES LESS THAN (2024), PARTITION pmax VALUES LESS THAN MAXVALUE);
CREATE TABLE `exchange_rates` (`base` char(3) NOT NULL, `quote` char(3) NOT NULL, `day` date NOT NULL, `rate` decimal(30,15) NOT NULL, PRIMARY KEY (`day`,`base`,`quote`));
CREATE TABLE `audit_log` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  `at` timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  `actor` varchar(128) DEFAULT NULL,
  `action` varchar(32) NOT NULL,
  `entity` varchar(64) NOT NULL,
  `entity_id` varchar(64) DEFAULT NULL,
  `before` json DEFAULT NULL,
  `after` json DEFAULT NULL,
  `ip` int unsigned DEFAULT NULL,
  `trace` binary(8) DEFAULT 0x0000000000000000
);
CREATE TABLE `events` (`at` datetime(6) NOT NULL, `name` varchar(100) NOT NULL, `props` json);
CREATE TABLE `outbox` (`id` varchar(36) NOT NULL PRIMARY KEY, `aggregate_type` varchar(255) NOT NULL, `aggregate_id` varchar(255) NOT NULL, `type` varchar(255) NOT NULL, `payload` json);
CREATE TABLE `jobs` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  `queue` varchar(100) NOT NULL DEFAULT 'default',
  `payload` longtext NOT NULL,
  `attempts` tinyint unsigned NOT NULL DEFAULT 0,
  `reserved_at` int unsigned DEFAULT NULL,
  `available_at` int unsigned NOT NULL DEFAULT '0',
  `priority` tinyint NOT NULL DEFAULT '-1'
);
CREATE TABLE `translations` (`id` int NOT NULL AUTO_INCREMENT PRIMARY KEY, `locale` varchar(12) NOT NULL, `group` varchar(60) NOT NULL, `key` varchar(190) NOT NULL, `value` text NOT NULL, UNIQUE KEY (`locale`,`group`,`key`));
CREATE TABLE `settings` (`key` varchar(64) NOT NULL UNIQUE, `value` text, `kind` enum('int','text','json') DEFAULT 'text');
CREATE TABLE `tags` (`name` varchar(40) UNIQUE, `uses` int DEFAULT 0);
CREATE TABLE `media` (
  `id` int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  `owner_type` varchar(40) NOT NULL, `owner_id` bigint NOT NULL,
  `mime` varchar(100) NOT NULL DEFAULT 'application/octet-stream',
  `size` bigint unsigned NOT NULL DEFAULT '18446744073709551615',
  `sha1` binary(20) DEFAULT NULL, `exif` json DEFAULT NULL, `preview` tinyblob
);
CREATE TABLE `reviews` (`product_id` bigint NOT NULL, `customer_id` int unsigned NOT NULL, `stars` tinyint unsigned NOT NULL DEFAULT '5', `comment` text, `helpful` int DEFAULT '0', `at` timestamp NOT NULL DEFAULT '2020-01-01 00:00:00', PRIMARY KEY (`product_id`,`customer_id`), CONSTRAINT `stars_ok` CHECK (`stars` BETWEEN 1 AND 5));
CREATE TABLE `employees` (
  `id` int NOT NULL AUTO_INCREMENT PRIMARY KEY,
  `manager_id` int DEFAULT NULL,
  `hired_on` date NOT NULL,
  `salary` decimal(10,2) NOT NULL DEFAULT 1234.5,
  `bonus` decimal(5,3) DEFAULT .5,
  `works_from` time DEFAULT '09:00:00',
  `works_to` time DEFAULT '-01:00:00',
  `photo` mediumblob,
  `cv` longtext,
  `gender` char(1) DEFAULT NULL,
  `nick` char(10) NOT NULL DEFAULT 'x'
);
CREATE TABLE `vacations` (`employee_id` int NOT NULL, `from_day` date NOT NULL, `to_day` date NOT NULL, `half_days` bit(2) NOT NULL DEFAULT b'00', PRIMARY KEY (`employee_id`,`from_day`));
CREATE TABLE `timesheets` (`employee_id` int NOT NULL, `day` date NOT NULL, `minutes` smallint unsigned NOT NULL DEFAULT '480', `project` varchar(30) DEFAULT NULL, `billable` boolean DEFAULT TRUE, UNIQUE KEY `e_d` (`employee_id`,`day`));
CREATE TABLE `sensor_readings` (`sensor` int NOT NULL, `at` timestamp(3) NOT NULL, `value` double DEFAULT NULL, `quality` float NOT NULL DEFAULT '0.1', `raw` varbinary(255) DEFAULT NULL, KEY (`sensor`,`at`));
CREATE TABLE `flags` (`name` varchar(50) NOT NULL PRIMARY KEY, `on_` char(0) DEFAULT NULL, `rollout` decimal(3,2) NOT NULL DEFAULT '0.05', `rules` json DEFAULT NULL);
CREATE TABLE `legacy_contacts` (`id` int(11) NOT NULL AUTO_INCREMENT, `name` varchar(50) DEFAULT NULL, `phone` int(10) unsigned zerofill DEFAULT NULL, `created` datetime DEFAULT '1970-01-01 00:00:00', `legacy` varchar(20) CHARACTER SET gbk DEFAULT NULL, PRIMARY KEY (`id`)) ENGINE=MyISAM DEFAULT CHARSET=latin1;
CREATE TABLE `counters` (`name` varchar(30) NOT NULL PRIMARY KEY, `n` bigint NOT NULL DEFAULT '-9223372036854775808', `m` int4 unsigned DEFAULT '4294967295', `k` int1 DEFAULT NULL, `r` real DEFAULT NULL, `f` numeric(6,2) DEFAULT NULL, `d` double precision DEFAULT 1e3);
CREATE TABLE `orders_archive` LIKE `orders`;
CREATE TABLE `top_customers` AS SELECT * FROM `customers`;

CREATE UNIQUE INDEX `uq_addr` ON `addresses` (`customer_id`,`kind`);
CREATE INDEX `ix_pay` ON `payments` (`invoice_id`);
CREATE INDEX `ix_lower` ON `customers` ((lower(`last_name`)));
CREATE INDEX `ix_json` ON `products` ((cast(`attributes`->'$.tags' as char(20) array)));
CREATE VIEW `open_orders` AS SELECT `id`, `number` FROM `orders` WHERE `status` = 'new';
CREATE OR REPLACE VIEW `revenue` AS SELECT `currency`, sum(`gross`) AS `total` FROM `orders` GROUP BY `currency`;

ALTER TABLE `orders` ADD COLUMN `channel` varchar(20) NOT NULL DEFAULT 'web' AFTER `status`;
ALTER TABLE `orders` ADD COLUMN `external_ref` varchar(64) DEFAULT NULL, ADD UNIQUE KEY `uq_ext` (`external_ref`);
ALTER TABLE `orders` MODIFY COLUMN `note` text;
ALTER TABLE `orders` MODIFY `coupon` varchar(64) DEFAULT NULL COMMENT 'code of the voucher';
ALTER TABLE `order_items` ADD `tax_rate` decimal(4,2) NOT NULL DEFAULT '19.00', ADD `created_at` timestamp NULL DEFAULT CURRENT_TIMESTAMP;
ALTER TABLE `customers` CHANGE COLUMN `notes` `remarks` mediumtext;
ALTER TABLE `customers` ADD COLUMN `tier` enum('bronze','silver','gold') NOT NULL DEFAULT 'bronze' FIRST;
ALTER TABLE `customers` DROP COLUMN `salutation`;
ALTER TABLE `customers` ALTER COLUMN `newsletter` SET DEFAULT 1;
ALTER TABLE `customers` ALTER `discount_percent` DROP DEFAULT;
ALTER TABLE `products` ADD COLUMN `is_digital` tinyint(1) NOT NULL DEFAULT 0;
ALTER TABLE `products` ADD CONSTRAINT `price_positive` CHECK (`price` >= 0);
ALTER TABLE `products` DROP INDEX `ix_status`, ADD INDEX `ix_status2` (`status`);
ALTER TABLE `products` RENAME INDEX `ix_status2` TO `ix_status3`;
ALTER TABLE `products` RENAME COLUMN `cost` TO `purchase_price`;
ALTER TABLE `invoices` ADD COLUMN `paid` boolean NOT NULL DEFAULT false;
ALTER TABLE `invoices` ADD CONSTRAINT `inv_order` FOREIGN KEY (`order_id`) REFERENCES `orders` (`id`);
ALTER TABLE `invoices` DROP FOREIGN KEY `inv_order`;
ALTER TABLE `users` ADD COLUMN `mfa_secret` varbinary(64) DEFAULT NULL, ADD COLUMN `mfa_on` bit(1) NOT NULL DEFAULT b'0';
ALTER TABLE `users` ADD INDEX `ix_login` (`last_login_at`);
ALTER TABLE `users` CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci;
ALTER TABLE `sessions` ADD COLUMN `created` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP;
ALTER TABLE `jobs` ADD COLUMN (`failed_at` datetime DEFAULT NULL, `error` text);
ALTER TABLE `tags` ADD COLUMN `id` int NOT NULL AUTO_INCREMENT UNIQUE FIRST;
ALTER TABLE `settings` COMMENT = 'key and value';
ALTER TABLE `events` ENGINE=InnoDB;
ALTER TABLE `events` ADD PRIMARY KEY (`at`,`name`);
ALTER TABLE `counters` DROP PRIMARY KEY, ADD PRIMARY KEY (`name`,`n`);
ALTER TABLE `journal` ADD PARTITION (PARTITION p2030 VALUES LESS THAN (2031));
ALTER TABLE `depots` ADD COLUMN `capacity` int unsigned NOT NULL DEFAULT 100 INVISIBLE;
ALTER TABLE `stock` ADD COLUMN `bin` varchar(12) COLLATE utf8mb4_bin DEFAULT NULL;
ALTER TABLE `vacations` RENAME TO `leave_days`;
RENAME TABLE `timesheets` TO `time_entries`;
DROP TABLE IF EXISTS `orders_backup`;
TRUNCATE TABLE `events`;

INSERT INTO `countries` VALUES ('DE','DEU','Deutschland',49,19.00,1),('FR','FRA','France',33,20.00,1),('JP','JPN','日本',81,10.00,0);
INSERT INTO `currencies` (`code`,`minor_units`,`symbol`) VALUES ('EUR',2,'€'),('JPY',0,'¥'),('KWD',3,'د.ك');
INSERT INTO `customers` (`number`,`first_name`,`last_name`) VALUES ('C-1','Ada','O''Neill; Ltd.'),('C-2','李','小龙');
INSERT INTO `products` (`sku`,`name`,`price`,`attributes`) VALUES ('A-1','Bike "X"',1299.00,'{"color": "red", "tags": ["sale"]}');
INSERT INTO `orders` (`number`,`customer_id`,`net`,`tax`) VALUES ('2024-000001',1,100.00,19.00) ON DUPLICATE KEY UPDATE `net` = VALUES(`net`);
INSERT IGNORE INTO `order_items` (`order_id`,`line`,`product_id`,`unit_price`) VALUES (1,1,1,1299.00);
REPLACE INTO `settings` (`key`,`value`) VALUES ('theme','dark');
INSERT INTO `audit_log` (`action`,`entity`,`before`,`after`) SELECT 'seed','orders',NULL,json_object('id',`id`) FROM `orders`;
UPDATE `orders` SET `status` = 'paid', `paid_at` = NOW() WHERE `id` = 1;
DELETE FROM `sessions` WHERE `expires_at` < UNIX_TIMESTAMP();
LOCK TABLES `tags` WRITE;
INSERT INTO `tags` (`name`) VALUES ('new'),('hot -- not a comment'),('a/*b*/c');
UNLOCK TABLES;
