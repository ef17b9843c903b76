package openlineage
import ("testing";"os";"bytes";"github.com/go-json-experiment/json/jsontext";"encoding/json")
func BenchmarkZZ(b *testing.B){
	body,_:=os.ReadFile("testdata/spark_complete.json")
	b.Run("tokens",func(b *testing.B){ b.ReportAllocs(); for b.Loop() { d:=jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true)); for { if _,err:=d.ReadToken(); err!=nil {break} } } })
	b.Run("peek+values",func(b *testing.B){ b.ReportAllocs(); for b.Loop() { d:=jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true)); for { k:=d.PeekKind(); var err error; if k=='"'||k=='0' {_,err=d.ReadValue()} else {_,err=d.ReadToken()}; if err!=nil {break} } } })
	b.Run("value",func(b *testing.B){ b.ReportAllocs(); for b.Loop() { d:=jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true)); d.ReadValue() } })
	b.Run("stdlib",func(b *testing.B){ b.ReportAllocs(); for b.Loop() { var v any; json.Unmarshal(body,&v) } })
}
