// The words for kinds of alerts and of driving events, and for what rules ask of signals.

export const alertStates: Record<'en' | 'de' | 'es', Record<string, string>> = {
	en: { 'subject:tilt': 'Tilted', 'subject:standing': 'While standing', 'subject:driving': 'While driving', sos: 'Call for help', odometer_jump: 'Odometer leap', device_offline: 'Tracker offline' },
	de: {
		'subject:tilt': 'Geneigt', 'subject:standing': 'Im Stand', 'subject:driving': 'Während der Fahrt',
		speeding: 'Zu schnell', geofence_speeding: 'Zu schnell in einer Zone', geofence_enter: 'Kommt in eine Zone', geofence_exit: 'Verlässt eine Zone',
		geofence_dwell: 'Verweilt in einer Zone', geofence_curfew: 'Außerhalb der Zonen', battery_low: 'Wenig Ladung', fuel_low: 'Wenig Kraftstoff',
		voltage_low: 'Schwache Starterbatterie', device_offline: 'Tracker offline', idling: 'Steht mit laufendem Motor', harsh_braking: 'Hartes Bremsen',
		harsh_acceleration: 'Hartes Beschleunigen', harsh_cornering: 'Harte Kurve', tow: 'Abgeschleppt', movement_without_booking: 'Fährt ohne Buchung',
		overdue_return: 'Rückgabe überfällig', fault_code: 'Fehlermeldung', odometer_jump: 'Kilometerstand springt', crash: 'Unfall',
		document_expiring: 'Papiere laufen ab', maintenance_due: 'Wartung fällig', booking_conflict: 'Buchungen überschneiden sich',
		stop_reached: 'Halt erreicht', stop_missed: 'Halt verpasst', route_deviation: 'Weicht von der Route ab', sos: 'Hilferuf', jamming: 'Gestört',
		tampering: 'Manipuliert', power_cut: 'Ohne Strom', low_power: 'Tracker schwach', device_alarm: 'Alarm des Geräts', signal: 'Signal',
		fuel_drop: 'Kraftstoff fehlt', fuel_rise: 'Getankt', proximity: 'Zwei Fahrzeuge beieinander', above: 'über', below: 'unter', between: 'zwischen',
		outside: 'außerhalb von', equals: 'gleich', changed: 'geändert',
	},
	es: {
		'subject:tilt': 'Inclinado', 'subject:standing': 'Parado', 'subject:driving': 'En marcha',
		speeding: 'Exceso de velocidad', geofence_speeding: 'Exceso de velocidad en una zona', geofence_enter: 'Entra en una zona',
		geofence_exit: 'Sale de una zona', geofence_dwell: 'Permanece en una zona', geofence_curfew: 'Fuera de las zonas', battery_low: 'Batería baja',
		fuel_low: 'Poco combustible', voltage_low: 'Batería de arranque débil', device_offline: 'Rastreador sin conexión', idling: 'Parado con el motor en marcha',
		harsh_braking: 'Frenazo', harsh_acceleration: 'Aceleración brusca', harsh_cornering: 'Curva brusca', tow: 'Remolcado',
		movement_without_booking: 'Se mueve sin reserva', overdue_return: 'Devolución vencida', fault_code: 'Código de avería',
		odometer_jump: 'Salto del cuentakilómetros', crash: 'Accidente', document_expiring: 'Documentos por vencer', maintenance_due: 'Mantenimiento pendiente',
		booking_conflict: 'Reservas en conflicto', stop_reached: 'Parada alcanzada', stop_missed: 'Parada perdida', route_deviation: 'Se desvía de la ruta',
		sos: 'Petición de ayuda', jamming: 'Interferido', tampering: 'Manipulado', power_cut: 'Sin corriente', low_power: 'Rastreador con poca energía',
		device_alarm: 'Alarma del dispositivo', signal: 'Señal', fuel_drop: 'Falta combustible', fuel_rise: 'Repostado', proximity: 'Dos vehículos juntos',
		above: 'por encima de', below: 'por debajo de', between: 'entre', outside: 'fuera de', equals: 'igual a', changed: 'cambiada',
	},
};
