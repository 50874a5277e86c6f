<?php
// Makes the tables, one administrator, one author and one subscriber.
define( 'WP_INSTALLING', true );
require ABSPATH . 'wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';

$password = getenv( 'BLOG_PASSWORD' );
wp_install( 'Test blog', 'Alice', 'alice@example.org', true, '', $password );
foreach ( array( 'Bob' => 'author', 'Eve' => 'subscriber' ) as $name => $role ) {
	wp_insert_user(
		array(
			'user_login' => $name,
			'user_pass'  => $password,
			'user_email' => strtolower( $name ) . '@example.org',
			'role'       => $role,
		)
	);
}
switch_theme( 'twentytwentythree' );
