package schemas

// FactsVersion is that of what facts are, as the queries facts_* make them. A program with another one makes all of
// them again, and until then its reports say that what they stand on is not made.
const FactsVersion uint32 = 6
