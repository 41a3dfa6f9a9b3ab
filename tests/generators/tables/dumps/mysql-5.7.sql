-- MySQL dump 10.13  Distrib 5.7.44, for linux-glibc2.12 (x86_64)
-- Server version	5.7.44-log

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `old shop` /*!40100 DEFAULT CHARACTER SET gbk */;

USE `old shop`;
CREATE TABLE `t` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `flag` tinyint(1) DEFAULT NULL,
  `name` varchar(20) DEFAULT NULL,
  `big` varchar(20) CHARACTER SET armscii8 DEFAULT NULL,
  `ts` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `year` year(4) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=gbk ROW_FORMAT=DYNAMIC;
/*!50001 CREATE TABLE `v` (
  `id` tinyint NOT NULL
) ENGINE=MyISAM */;
/*!50001 DROP TABLE IF EXISTS `v`*/;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `v` AS select `t`.`id` AS `id` from `t` */;
