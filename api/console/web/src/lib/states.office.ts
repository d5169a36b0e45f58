// The words for states and kinds of the pages of money and of the platform; states.ts has them among all others.

const en: Record<string, string> = {
	'severity:safety_critical': 'Affects safety', wont_fix: 'Left as it is', pass: 'In order', fail: 'Not in order', na: 'Does not apply', dvir: "Driver's report", battery_cycles: 'Battery cycles',
	credit_notes: 'Credit notes', 'maintenance/tasks': 'Service tasks', 'maintenance/schedules': 'Service schedules', 'maintenance/work_orders': 'Work orders',
	'maintenance/issues': 'Issues', 'maintenance/inspections': 'Inspections', oauth_client: 'Program', oauth_grant: 'Consent', api_key: 'API key', totp: 'Code of an app',
	role_owner: 'Owner', role_manager: 'Manager', role_clerk: 'Clerk', role_analyst: 'Analyst', role_driver: 'Driver', mon: 'Monday', tue: 'Tuesday', wed: 'Wednesday', thu: 'Thursday',
	fri: 'Friday', sat: 'Saturday', sun: 'Sunday', confidential: 'A server', public: 'An app', client_credentials: 'for itself', authorization_code: 'for people', refresh_token: 'keeps its access',
	ota: 'Travel agency', api: 'API',
	from_completion: 'The day on which it was done', fixed: 'The day on which it was due',
	cng: 'Natural gas', lpg: 'LPG', 'source:manual': 'By hand',
};

const de: Record<string, string> = {
	'severity:low': 'Gering', 'severity:medium': 'Mittel', 'severity:high': 'Schwer', 'severity:safety_critical': 'Gefährdet die Sicherheit', wont_fix: 'Bleibt so', pass: 'In Ordnung', fail: 'Nicht in Ordnung', na: 'Entfällt',
	dvir: 'Bericht des Fahrers', battery_cycles: 'Ladezyklen',
	invoices: 'Rechnungen', credit_notes: 'Gutschriften', receipts: 'Quittungen', deposit_statements: 'Kautionsabrechnungen', agreements: 'Mietverträge', owner_statements: 'Halterabrechnungen', credited: 'Gutgeschrieben', issuing: 'Wird ausgestellt',
	matched: 'Zugeordnet', unmatched: 'Nicht zugeordnet', billed: 'Berechnet', disputed: 'Bestritten', imported: 'Importiert', expense: 'Ausgabe', payment: 'Zahlung', journal_entry: 'Buchung von Hand', 
	revoked: 'Widerrufen', enabled: 'An', paused: 'Angehalten', disabled: 'Aus', retrying: 'Neuer Versuch', skipped: 'Ausgelassen', superseded: 'Ersetzt', queued: 'Wartet', running: 'Läuft', done: 'Fertig',
	import: 'Import', export: 'Export', report: 'Bericht', geofence_backfill: 'Geozone, Vergangenheit', vehicles: 'Fahrzeuge', customers: 'Kunden', bookings: 'Buchungen', devices: 'Tracker', expenses: 'Ausgaben', tolls: 'Maut', payments: 'Zahlungen',
	rate_plans: 'Tarife', vehicle_classes: 'Fahrzeugklassen', locations: 'Standorte', geofences: 'Geozonen', driver_tags: 'Fahrerkennungen', 'maintenance/tasks': 'Wartungsaufgaben', 'maintenance/schedules': 'Wartungspläne', 'maintenance/work_orders': 'Arbeitsaufträge',
	'maintenance/issues': 'Mängel', 'maintenance/inspections': 'Prüfungen', recurring_costs: 'Wiederkehrende Kosten', journal_entries: 'Buchungen von Hand', invited: 'Eingeladen', fleet: 'Flotte', finance: 'Finanzen', location: 'Orte', alerts: 'Alarme', webhooks: 'Webhooks',
	undecodable: 'Nicht lesbar', too_large: 'Zu groß', unreadable_batch: 'Stapel nicht lesbar', missing_device: 'Ohne Tracker', missing_time: 'Ohne Zeit', implausible_time: 'Unmögliche Zeit', missing_coordinates: 'Ohne Koordinaten', bad_coordinates: 'Falsche Koordinaten',
	zero_coordinates: 'Koordinaten null', device_unassigned: 'Tracker ohne Fahrzeug', empty: 'Leer', created: 'Erstellt', changed: 'Geändert', rotated: 'Erneuert', sealed: 'Versiegelt', used: 'Benutzt', refused: 'Abgelehnt', wrong_password: 'Falsches Passwort', wrong_totp: 'Falscher Code',
	api_key: 'API-Schlüssel', webhook_secret: 'Webhook-Geheimnis', oauth_client: 'Programm', oauth_grant: 'Zustimmung', session: 'Sitzung', user: 'Person', password: 'Passwort', passkey: 'Passkey', totp: 'Code einer App', role_owner: 'Inhaber', role_manager: 'Leitung', role_clerk: 'Schalter',
	role_analyst: 'Auswertung', role_driver: 'Fahrer', mon: 'Montag', tue: 'Dienstag', wed: 'Mittwoch', thu: 'Donnerstag', fri: 'Freitag', sat: 'Samstag', sun: 'Sonntag', confidential: 'Ein Server', public: 'Eine App', client_credentials: 'für sich selbst', authorization_code: 'für Personen',
	refresh_token: 'behält den Zugang', ota: 'Reiseportal', api: 'API', partner: 'Partner', turo: 'Turo', getaround: 'Getaround', purchase: 'Kauf', depreciation: 'Abschreibung', loan_interest: 'Zinsen', loan_principal: 'Tilgung', lease: 'Leasing', disposal: 'Verkauf', planned: 'Geplant', posted: 'Gebucht', voided: 'Ungültig',
	posted_by_hand: 'Von Hand gebucht', address_not_allowed: 'Adresse nicht erlaubt',
	status: 'Zustand', charge: 'Preis', deposit: 'Kaution', vehicle: 'Fahrzeug', change: 'Änderung', correction: 'Korrektur', refund: 'Erstattung', no_show_fee: 'Gebühr, weil niemand kam', platform_fee: 'Anteil des Kanals', telematics: 'Telematik', track: 'Weg', visual: 'Gesehen', hold: 'Reservierung', charge_method: 'Einzug', from_completion: 'Ab dem Tag, an dem es getan wurde', fixed: 'Ab dem fälligen Tag', driver: 'Fahrer', consigned: 'In Kommission',
	straight_line: 'Linear', declining: 'Degressiv', units_of_production: 'Nach Leistung', market_value: 'Marktwert', lead: 'Interessent', dormant: 'Ruht', primary: 'Erster Fahrer', additional: 'Weiterer Fahrer', submitted: 'Eingereicht', pickup: 'Abholung', return: 'Rückgabe', periodic: 'Regelmäßig', month: 'Monat', quarter: 'Quartal', half_year: 'Halbjahr', year: 'Jahr', system: 'von selbst', scan: 'Gescannt', third_party: 'Von Dritten', cng: 'Erdgas', lpg: 'Autogas', 'source:manual': 'Von Hand', 'lifecycle:active': 'Aktiv', 'method:charge': 'Abbuchung',
};

const es: Record<string, string> = {
	'severity:low': 'Leve', 'severity:medium': 'Media', 'severity:high': 'Grave', 'severity:safety_critical': 'Afecta a la seguridad', wont_fix: 'Se deja así', pass: 'En orden', fail: 'No está en orden', na: 'No procede',
	dvir: 'Parte del conductor', battery_cycles: 'Ciclos de batería',
	invoices: 'Facturas', credit_notes: 'Abonos', receipts: 'Recibos', deposit_statements: 'Liquidaciones de depósito', agreements: 'Contratos', owner_statements: 'Liquidaciones de propietarios', credited: 'Abonada', issuing: 'Emitiéndose',
	matched: 'Asociado', unmatched: 'Sin asociar', billed: 'Cobrado al cliente', disputed: 'Impugnado', imported: 'Importado', expense: 'Gasto', payment: 'Cobro', journal_entry: 'Asiento manual',
	revoked: 'Revocada', enabled: 'Activo', paused: 'En pausa', disabled: 'Desactivado', retrying: 'Reintentando', skipped: 'Omitido', superseded: 'Sustituido', queued: 'En cola', running: 'En marcha', done: 'Hecho',
	import: 'Importación', export: 'Exportación', report: 'Informe', geofence_backfill: 'Geocerca, pasado', vehicles: 'Vehículos', customers: 'Clientes', bookings: 'Reservas', devices: 'Rastreadores', expenses: 'Gastos', tolls: 'Peajes', payments: 'Cobros',
	rate_plans: 'Tarifas', vehicle_classes: 'Clases de vehículos', locations: 'Sedes', geofences: 'Geocercas', driver_tags: 'Tarjetas de conductor', 'maintenance/tasks': 'Tareas de servicio', 'maintenance/schedules': 'Planes de servicio', 'maintenance/work_orders': 'Órdenes de trabajo',
	'maintenance/issues': 'Incidencias', 'maintenance/inspections': 'Inspecciones', recurring_costs: 'Costes periódicos', journal_entries: 'Asientos manuales', invited: 'Invitado', fleet: 'Flota', finance: 'Finanzas', location: 'Lugares', alerts: 'Alertas', webhooks: 'Webhooks',
	undecodable: 'Ilegible', too_large: 'Demasiado grande', unreadable_batch: 'Lote ilegible', missing_device: 'Sin rastreador', missing_time: 'Sin hora', implausible_time: 'Hora imposible', missing_coordinates: 'Sin coordenadas', bad_coordinates: 'Coordenadas erróneas',
	zero_coordinates: 'Coordenadas cero', device_unassigned: 'Rastreador sin vehículo', empty: 'Vacío', created: 'Creado', changed: 'Cambiado', rotated: 'Renovado', sealed: 'Sellado', used: 'Usado', refused: 'Rechazado', wrong_password: 'Contraseña errónea', wrong_totp: 'Código erróneo',
	api_key: 'Clave de API', webhook_secret: 'Secreto de webhook', oauth_client: 'Programa', oauth_grant: 'Consentimiento', session: 'Sesión', user: 'Persona', password: 'Contraseña', passkey: 'Llave de acceso', totp: 'Código de app', role_owner: 'Titular', role_manager: 'Dirección', role_clerk: 'Mostrador',
	role_analyst: 'Análisis', role_driver: 'Conductor', mon: 'Lunes', tue: 'Martes', wed: 'Miércoles', thu: 'Jueves', fri: 'Viernes', sat: 'Sábado', sun: 'Domingo', confidential: 'Un servidor', public: 'Una app', client_credentials: 'por sí mismo', authorization_code: 'por personas',
	refresh_token: 'mantiene el acceso', ota: 'Portal de viajes', api: 'API', partner: 'Socio', turo: 'Turo', getaround: 'Getaround', purchase: 'Compra', depreciation: 'Amortización', loan_interest: 'Intereses', loan_principal: 'Principal', lease: 'Leasing', disposal: 'Venta', planned: 'Previsto', posted: 'Contabilizado', voided: 'Anulado',
	posted_by_hand: 'Contabilizado a mano', address_not_allowed: 'Dirección no permitida',
	status: 'Estado', charge: 'Precio', deposit: 'Depósito', vehicle: 'Vehículo', change: 'Cambio', correction: 'Corrección', refund: 'Reembolso', no_show_fee: 'Tarifa por no presentarse', platform_fee: 'Parte del canal', telematics: 'Telemática', track: 'Recorrido', visual: 'Visto', hold: 'Retención', charge_method: 'Cobro', from_completion: 'Desde que se hizo', fixed: 'Desde el día debido', driver: 'Conductor', consigned: 'En consignación',
	straight_line: 'Lineal', declining: 'Degresiva', units_of_production: 'Por uso', market_value: 'Valor de mercado', lead: 'Interesado', dormant: 'Inactivo', primary: 'Conductor principal', additional: 'Conductor adicional', submitted: 'Enviada', pickup: 'Recogida', return: 'Devolución', periodic: 'Periódica', month: 'Mes', quarter: 'Trimestre', half_year: 'Semestre', year: 'Año', system: 'por sí solo', scan: 'Escaneado', third_party: 'Por terceros', cng: 'Gas natural', lpg: 'GLP', 'source:manual': 'A mano', 'lifecycle:active': 'Activo', 'method:charge': 'Cobro',
};

export const office = { en, de, es };
