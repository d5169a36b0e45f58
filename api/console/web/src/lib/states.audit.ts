// The words for what was done with keys, passwords and sessions, as the audit has them for a reason, of persons and of jobs.

export const auditStates: Record<'de' | 'es', Record<string, string>> = {
	de: {
		'reason:expired': 'Abgelaufen', 'reason:revoked': 'Widerrufen', 'reason:wrong_passkey': 'Falscher Passkey', 'reason:passkey_copied': 'Kopierter Passkey',
		'reason:passkey_unverified': 'Passkey ohne Prüfung der Person', 'reason:passkey_late': 'Passkey zu spät', 'reason:password': 'Passwort', 'reason:link': 'Mit Link',
		'reason:code': 'Mit Code einer App', 'reason:recovery_code': 'Mit Ersatzcode', 'reason:passkey': 'Mit Passkey', 'reason:renewed': 'Erneuert',
		'reason:signed_out': 'Abgemeldet', 'reason:ended': 'Beendet', 'reason:replaced': 'Durch eine andere ersetzt', 'reason:all_ended': 'Überall abgemeldet',
		'reason:role': 'Rolle', 'reason:email': 'E-Mail-Adresse', 'reason:disabled': 'Ausgeschaltet', 'reason:enabled': 'Eingeschaltet', 'reason:removed': 'Entfernt',
		'reason:invited': 'Eingeladen', 'reason:withdrawn': 'Einladung zurückgezogen', 'reason:invitation_accepted': 'Einladung angenommen', 'reason:reset': 'Zurückgesetzt',
		'reason:app_added': 'App hinzugefügt', 'reason:app_removed': 'App entfernt', 'reason:codes_made': 'Ersatzcodes erstellt', 'reason:code_used': 'Ersatzcode benutzt',
		'reason:code_reused': 'Code zweimal benutzt', 'reason:refresh_token_reused': 'Zugang zweimal erneuert', 'reason:revoked_by_client': 'Vom Programm widerrufen',
		'reason:passkey_added': 'Passkey hinzugefügt', 'reason:passkey_removed': 'Passkey entfernt', invitation: 'Einladung', recovery_codes: 'Ersatzcodes',
		'person:active': 'Aktiv', 'person:disabled': 'Gesperrt', validation_failed: 'Zeilen, die nicht stimmen', opening_balance: 'Anfangsbestand',
	},
	es: {
		'reason:expired': 'Caducada', 'reason:revoked': 'Revocada', 'reason:wrong_passkey': 'Llave de acceso errónea', 'reason:passkey_copied': 'Llave de acceso copiada',
		'reason:passkey_unverified': 'Llave de acceso sin comprobar a la persona', 'reason:passkey_late': 'Llave de acceso tardía', 'reason:password': 'Contraseña', 'reason:link': 'Con enlace',
		'reason:code': 'Con código de app', 'reason:recovery_code': 'Con código de recuperación', 'reason:passkey': 'Con llave de acceso', 'reason:renewed': 'Renovada',
		'reason:signed_out': 'Sesión cerrada', 'reason:ended': 'Terminada', 'reason:replaced': 'Sustituida por otra', 'reason:all_ended': 'Todas las sesiones cerradas',
		'reason:role': 'Función', 'reason:email': 'Correo', 'reason:disabled': 'Desactivado', 'reason:enabled': 'Activado', 'reason:removed': 'Eliminado',
		'reason:invited': 'Invitado', 'reason:withdrawn': 'Invitación retirada', 'reason:invitation_accepted': 'Invitación aceptada', 'reason:reset': 'Restablecida',
		'reason:app_added': 'App añadida', 'reason:app_removed': 'App quitada', 'reason:codes_made': 'Códigos de recuperación creados', 'reason:code_used': 'Código de recuperación usado',
		'reason:code_reused': 'Código usado dos veces', 'reason:refresh_token_reused': 'Acceso renovado dos veces', 'reason:revoked_by_client': 'Revocado por el programa',
		'reason:passkey_added': 'Llave de acceso añadida', 'reason:passkey_removed': 'Llave de acceso quitada', invitation: 'Invitación', recovery_codes: 'Códigos de recuperación',
		'person:active': 'Activo', 'person:disabled': 'Desactivado', validation_failed: 'Filas que no son válidas', opening_balance: 'Saldo inicial',
	},
};
