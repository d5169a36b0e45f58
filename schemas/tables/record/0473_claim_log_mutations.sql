-- Erasures of earlier versions named what they sought in statements, of which the server keeps a hundred. All but the newest go.
ALTER TABLE claim_log
    MODIFY SETTING finished_mutations_to_keep = 1
