/*M!999999\- enable the sandbox mode */
-- MariaDB dump 10.19  Distrib 10.11.6-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: localhost    Database: crm
CREATE TABLE `t` (
  `id` int(11) NOT NULL DEFAULT nextval(`crm`.`s`),
  `j` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`j`)),
  `n` int(11) DEFAULT 5 CHECK (`n` between 1 and 9),
  `at` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(),
  `c` text /*M!100301 COMPRESSED*/ DEFAULT NULL,
  `p` varchar(40) DEFAULT NULL,
  UNIQUE KEY `p` (`p`(10))
) ENGINE=Aria DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci PAGE_CHECKSUM=1 WITH SYSTEM VERSIONING;
CREATE TABLE `g` (
  `id` int(11) NOT NULL,
  `u` uuid NOT NULL DEFAULT uuid(),
  `at` point NOT NULL,
  PRIMARY KEY (`id`),
  KEY `u` (`u`),
  SPATIAL KEY `at` (`at`)
);
