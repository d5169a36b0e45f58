-- The hash by which tag_reports_forget names a tag.
SELECT sipHash64({tag:String})
