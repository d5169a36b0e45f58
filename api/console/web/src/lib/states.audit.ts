// The words for what was done with keys, passwords and sessions, as the audit has them for a reason; and for what becomes of persons.

export const auditStates: Record<'en' | 'de' | 'es', Record<string, string>> = {
	en: { 'reason:totp': 'Code of an app', 'person:active': 'Active' },
	de: {
		'reason:expired': 'abgelaufen', 'reason:revoked': 'widerrufen', 'reason:wrong_passkey': 'falscher Passkey', 'reason:passkey_copied': 'kopierter Passkey',
		'reason:passkey_unverified': 'Passkey ohne Prüfung der Person', 'reason:passkey_late': 'Passkey zu spät', 'reason:password': 'mit Passwort', 'reason:link': 'mit Link',
		'reason:code': 'mit Code einer App', 'reason:recovery_code': 'mit Ersatzcode', 'reason:passkey': 'mit Passkey', 'reason:renewed': 'erneuert',
		'reason:signed_out': 'abgemeldet', 'reason:ended': 'beendet', 'reason:replaced': 'durch eine andere ersetzt', 'reason:all_ended': 'überall abgemeldet',
		'reason:role': 'Rolle', 'reason:email': 'E-Mail-Adresse', 'reason:disabled': 'ausgeschaltet', 'reason:enabled': 'eingeschaltet', 'reason:removed': 'entfernt',
		'reason:invited': 'eingeladen', 'reason:withdrawn': 'Einladung zurückgezogen', 'reason:invitation_accepted': 'Einladung angenommen', 'reason:reset': 'zurückgesetzt',
		'reason:app_added': 'App hinzugefügt', 'reason:app_removed': 'App entfernt', 'reason:codes_made': 'Ersatzcodes erstellt', 'reason:code_used': 'Ersatzcode benutzt',
		'reason:passkey_added': 'Passkey hinzugefügt', 'reason:passkey_removed': 'Passkey entfernt', invitation: 'Einladung', recovery_codes: 'Ersatzcodes',
		'person:active': 'Aktiv', 'person:disabled': 'Ausgeschaltet', validation_failed: 'Zeilen, die nicht stimmen',
	},
	es: {
		'reason:expired': 'caducada', 'reason:revoked': 'revocada', 'reason:wrong_passkey': 'llave de acceso errónea', 'reason:passkey_copied': 'llave de acceso copiada',
		'reason:passkey_unverified': 'llave de acceso sin comprobar la persona', 'reason:passkey_late': 'llave de acceso tardía', 'reason:password': 'con contraseña', 'reason:link': 'con enlace',
		'reason:code': 'con código de app', 'reason:recovery_code': 'con código de recuperación', 'reason:passkey': 'con llave de acceso', 'reason:renewed': 'renovada',
		'reason:signed_out': 'sesión cerrada', 'reason:ended': 'terminada', 'reason:replaced': 'sustituida por otra', 'reason:all_ended': 'todas las sesiones cerradas',
		'reason:role': 'función', 'reason:email': 'correo', 'reason:disabled': 'desactivado', 'reason:enabled': 'activado', 'reason:removed': 'eliminado',
		'reason:invited': 'invitado', 'reason:withdrawn': 'invitación retirada', 'reason:invitation_accepted': 'invitación aceptada', 'reason:reset': 'restablecida',
		'reason:app_added': 'app añadida', 'reason:app_removed': 'app quitada', 'reason:codes_made': 'códigos de recuperación creados', 'reason:code_used': 'código de recuperación usado',
		'reason:passkey_added': 'llave de acceso añadida', 'reason:passkey_removed': 'llave de acceso quitada', invitation: 'Invitación', recovery_codes: 'Códigos de recuperación',
		'person:active': 'Activo', 'person:disabled': 'Desactivado', validation_failed: 'Filas que no son válidas',
	},
};
