CREATE TABLE `parent` (`id` bigint unsigned NOT NULL, `email` varchar(80) NOT NULL, `note` text, PRIMARY KEY (`id`));
CREATE TABLE `line` (`b` int NOT NULL, `parent_id` bigint unsigned NOT NULL, `a` varchar(20) NOT NULL, `v` decimal(10,2),
  PRIMARY KEY (`a`, `parent_id`), CONSTRAINT `f` FOREIGN KEY (`parent_id`) REFERENCES `parent` (`id`)) ENGINE=InnoDB;
CREATE TABLE `heap` (`a` int, `b` int);
