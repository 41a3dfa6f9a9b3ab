USE [shop]
GO
/****** Object:  Table [dbo].[Customers]    Script Date: 11/29/2026 10:00:00 ******/
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO
CREATE TABLE [dbo].[Customers](
	[Id] [uniqueidentifier] ROWGUIDCOL  NOT NULL,
	[E]]mail] [nvarchar](120) NOT NULL,
	[Name] [varchar](64) COLLATE Cyrillic_General_CI_AS NULL,
	[City] [varchar](max) COLLATE Latin1_General_100_CI_AS_SC_UTF8 NULL,
	[Kind] [char](4) NOT NULL,
	[Balance] [money] NULL,
	[Score] [tinyint] NULL,
	[Full]  AS (([Name]+' ')+[Kind]) PERSISTED,
	[Shape] [geography] NULL,
	[Phone] [dbo].[PhoneNumber] NULL,
	[Ver] [timestamp] NOT NULL,
 CONSTRAINT [PK_Customers] PRIMARY KEY CLUSTERED 
(
	[Id] ASC
)WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF, IGNORE_DUP_KEY = OFF) ON [PRIMARY],
 CONSTRAINT [UQ_Email] UNIQUE NONCLUSTERED 
(
	[E]]mail] ASC
) ON [PRIMARY]
) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY]
GO
SET IDENTITY_INSERT [dbo].[Customers] ON
GO
INSERT [dbo].[Customers] ([Id], [Name]) VALUES (N'6F9619FF-8B86-D011-B42D-00C04FC964FF', N'into; the
GO')
GO
CREATE TABLE [sales].[Orders](
	[Id] [bigint] IDENTITY(1,1) NOT FOR REPLICATION NOT NULL,
	[CustomerId] [uniqueidentifier] NOT NULL,
	[Amount] [decimal](12, 2) NOT NULL,
	[Status] [nvarchar](10) NULL,
	[Made] [datetime2](7) NOT NULL,
	[Due] [datetimeoffset](3) NULL,
	[Opens] [time] NULL,
	[Ratio] [float] NULL,
	[Half] [float](24) NULL,
	[Code] [binary](4) NULL,
	[Note] [nvarchar](max) NULL,
	[Secret] [nvarchar](20) MASKED WITH (FUNCTION = 'default()') NULL,
PRIMARY KEY CLUSTERED 
(
	[Id] ASC
) WITH (FILLFACTOR = 80) ON [PRIMARY]
) ON [PRIMARY]
GO
ALTER TABLE [sales].[Orders] ADD  CONSTRAINT [DF_Made]  DEFAULT (sysutcdatetime()) FOR [Made]
GO
ALTER TABLE [sales].[Orders]  WITH CHECK ADD  CONSTRAINT [FK_Orders_Customers] FOREIGN KEY([CustomerId])
REFERENCES [dbo].[customers] ([id])
ON DELETE CASCADE
GO
ALTER TABLE [sales].[Orders] CHECK CONSTRAINT [FK_Orders_Customers]
GO
ALTER TABLE [sales].[Orders]  WITH CHECK ADD  CONSTRAINT [CK_Amount] CHECK  (([Amount]>=(0)))
GO
ALTER TABLE [sales].[Orders]  WITH CHECK ADD  CONSTRAINT [CK_Status] CHECK  (([Status]='new' OR [Status]=N'paid'))
GO
ALTER TABLE [sales].[Orders]  WITH CHECK ADD  CONSTRAINT [CK_Made] CHECK  (([Made]>='2020-01-01' AND len([Note])>(3)))
GO
CREATE NONCLUSTERED INDEX [IX_Customer] ON [sales].[Orders] ([CustomerId] ASC) INCLUDE ([Note]) WITH (ONLINE = OFF) ON [PRIMARY]
GO
CREATE UNIQUE NONCLUSTERED INDEX [IX_Due] ON [sales].[Orders] ([Due] ASC) WHERE ([Due] IS NOT NULL) ON [PRIMARY]
GO
CREATE NONCLUSTERED COLUMNSTORE INDEX [IX_Columns] ON [sales].[Orders] ([Amount])
GO
CREATE PROCEDURE dbo.p AS BEGIN
CREATE TABLE scratch (id int);
DROP TABLE [sales].[Orders];
END
GO
EXEC sys.sp_addextendedproperty @name=N'MS_Description', @value=N'who; buys'
GO
EXEC sp_rename 'sales.Orders.Half', 'Third', 'COLUMN'
GO
