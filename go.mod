module headwater

go 1.26
