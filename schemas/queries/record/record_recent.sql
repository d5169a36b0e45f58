-- The newest instants: of a revision, and of one whose consequences were carried out. 1970 if there is none.
SELECT (SELECT max(at) FROM record_log) AS written, (SELECT max(at) FROM record_settled) AS settled
