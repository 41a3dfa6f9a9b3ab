*************************** 1. row ***************************
       Table: t
Create Table: CREATE TABLE `t` (
  `id` int NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4
*************************** 1. row ***************************
       Table: u
Create Table: CREATE TABLE `u` (
  `id` int FOO
) ENGINE=InnoDB
w	CREATE TABLE `w` (
  `id` int
)
x	CREATE TABLE `x` (
  `id` int
)
