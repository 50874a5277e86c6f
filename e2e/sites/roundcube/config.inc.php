<?php
// What Roundcube reads in place of /etc/roundcube/config.inc.php: everything is in the test's own folder.
$folder = getenv( 'MAIL_FOLDER' );

$config = array(
	'db_dsnw'         => "sqlite:///$folder/roundcube.sqlite?mode=0600",
	'imap_host'       => '127.0.0.1:' . getenv( 'MAIL_IMAP' ),
	'smtp_host'       => '127.0.0.1:' . getenv( 'MAIL_SMTP' ),
	'smtp_user'       => '',
	'smtp_pass'       => '',
	'mail_domain'     => 'example.org',
	'product_name'    => 'Test mail',
	'des_key'         => 'twenty-four characters..',
	'plugins'         => array(),
	'skin'            => 'elastic',
	'language'        => 'en_US',
	'log_dir'         => "$folder/logs/",
	'temp_dir'        => "$folder/temp/",
	'enable_spellcheck' => false,
);
// A test may slow sending down.
if ( is_file( "$folder/more.php" ) ) {
	include "$folder/more.php";
}
