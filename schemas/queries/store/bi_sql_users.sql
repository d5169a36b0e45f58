-- Whether users can be made through SQL here: some directory of users is not the server's configuration.
SELECT count() > 0 FROM system.user_directories WHERE type != 'users_xml'
