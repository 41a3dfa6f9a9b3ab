"""What both of Huawei CDL's formats share."""
