<?php
// Makes the tables of Debian's schema, and the people named on the command line, who all have the same password.
$folder = getenv( 'READER_FOLDER' );
$pdo    = new PDO( "mysql:dbname=ttrss;unix_socket=$folder/db.sock", 'root', '' );
$pdo->setAttribute( PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION );
foreach ( explode( ';', preg_replace( '/^--.*$/m', '', file_get_contents( $argv[1] ) ) ) as $statement ) {
	if ( trim( $statement ) !== '' ) {
		$pdo->exec( $statement );
	}
}
$insert = $pdo->prepare( 'INSERT INTO ttrss_users (login, pwd_hash, access_level) VALUES (?, ?, 0)' );
foreach ( array_slice( $argv, 2 ) as $name ) {
	$insert->execute( array( $name, 'SHA1:' . sha1( getenv( 'READER_PASSWORD' ) ) ) );
}
